"""The parts of the feature suppression page."""
