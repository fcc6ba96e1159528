"""Turn validation errors into one readable line per problem."""

from pydantic import ValidationError


def explain(error: ValidationError, source: str = "") -> str:
    """One line per problem: which field, which value was seen, what is allowed.

    Args:
        error: What pydantic raised.
        source: File or form the values came from; put in front of each line.

    Returns:
        Plain text, one problem per line, without pydantic's links and codes.
    """
    lines = []
    for problem in error.errors(include_url=False):
        field = ".".join(str(part) for part in problem["loc"]) or "settings"
        message = problem["msg"].removeprefix("Value error, ")
        message = message[:1].lower() + message[1:]
        seen = problem.get("input")
        if problem["type"] == "extra_forbidden":
            line = f"{field}: unknown field (value {seen!r}); remove it or check its spelling"
        elif problem["type"] == "missing":
            line = f"{field}: required, but not given"
        elif isinstance(seen, dict):  # a rule about several fields; its text names the values itself
            line = message if field == "settings" else f"{field}: {message}"
        else:
            line = f"{field}: {message}, got {seen!r}"
        lines.append(f"{source}: {line}" if source else line)
    return "\n".join(lines)
