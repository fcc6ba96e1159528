"""Pieces that several pages draw. Not pages themselves."""
