"""Views of the loss-family page."""
