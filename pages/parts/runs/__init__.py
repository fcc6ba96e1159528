"""The parts of the runs page."""
