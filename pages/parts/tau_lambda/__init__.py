"""Parts of the tau-lambda page."""
