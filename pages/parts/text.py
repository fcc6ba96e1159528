"""Text that came with a file or an address, or was typed by a visitor, as it is."""

import re

from core.validation import shortened

# Markdown's signs, and Streamlit's; a bare address would become a link, a picture would be fetched from wherever it lies.
SIGNS = re.compile(r"[\\`*\[\]<$#|~]|^>|(?<!\w)_|_(?!\w)|:(?=[\w/])|(?<=www)\.", re.MULTILINE)


def literal(text: str) -> str:
    """A text that Markdown does not read as formatting, a picture or a link, and without control characters."""
    shown = "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
    return SIGNS.sub(r"\\\g<0>", shown)


def quoted(value: str) -> str:
    """A wrong value as a message repeats it: in quotes, and not endless."""
    return repr(shortened(value))
