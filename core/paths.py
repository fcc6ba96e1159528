"""Paths as people write them."""

import os
from pathlib import Path


def expanded(text: str) -> Path:
    """A path with ~ replaced by the home folder; a home that is not known stays as it is written and is then not found."""
    return Path(os.path.expanduser(text))  # Path.expanduser raises RuntimeError for the home of an unknown user
