"""The parts of the report page and of presentation mode."""
