"""The guided tour: eight pictures, each with one question."""
