"""Time spans as people say them."""


def spoken(seconds: float) -> str:
    """A time span with the precision an estimate has.

    Args:
        seconds: Not negative.

    Returns:
        "less than 10 s", "about 40 s", "about 3 min", "about 1 h 20 min", "about 2 days".
    """
    if seconds < 10:
        return "less than 10 s"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} s"
    minutes = seconds / 60
    if minutes < 10:
        return f"about {_half(minutes)} min"
    if minutes < 57.5:
        return f"about {round(minutes / 5) * 5} min"
    hours = seconds / 3600
    if hours < 6:
        tens = round(minutes / 10)
        whole, rest = divmod(tens, 6)
        return f"about {whole} h {rest * 10} min" if rest else f"about {whole} h"
    if hours < 36:
        return f"about {round(hours)} h"
    return f"about {round(hours / 24)} days"


def age(seconds: float) -> str:
    """How long ago something was: "4 s", "3 min", "2 h", "5 days"."""
    for size, unit in ((86400, "day"), (3600, "h"), (60, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}"
    return f"{int(seconds)} s"


def _half(minutes: float) -> str:
    """Minutes to the half: 1.5, 2, 2.5."""
    return f"{round(minutes * 2) / 2:g}"
