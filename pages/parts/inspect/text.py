"""Text that came with a file or was typed by a visitor, as it is."""


def literal(text: str) -> str:
    """A text that Markdown does not read as formatting or as a link, and without control characters."""
    shown = "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
    for sign in "\\`*_[]<>$#:|~":
        shown = shown.replace(sign, f"\\{sign}")
    return shown
