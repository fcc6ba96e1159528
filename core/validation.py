"""Read settings that people wrote, and turn what is wrong with them into one readable line per problem."""

import functools
import tomllib
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError, ValidationInfo

LONGEST_SHOWN = 200  # characters of a wrong value that a message repeats


def shortened(text: str) -> str:
    """A wrong value, or a path, as a message repeats it: not endless."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def parse_toml(text: str) -> dict[str, Any]:
    """TOML text as a dictionary.

    Raises:
        ValueError: If it is not TOML, or nothing that a person would write: numbers of thousands of digits, endless nesting.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
    except RecursionError:
        reason = "too deeply nested"
    except ValueError:  # Python's limit on the digits of a number
        reason = "a number has too many digits"
    raise ValueError(f"not valid TOML: {reason}")


def reject_conversion(model: type[BaseModel], value: Any, info: ValidationInfo) -> Any:
    """Refuse what pydantic would quietly turn into something else: text or true as a number, text or a number as true.

    Runs before a field's own checks, as `field_validator("*", mode="before")(classmethod(reject_conversion))`.

    Returns:
        The value, unchanged.

    Raises:
        ValueError: What the field holds instead.
    """
    kinds = _kinds(model, info.field_name)
    if kinds & {int, float} and isinstance(value, bool | str):
        raise ValueError("must be a number" if float in kinds else "must be a whole number")
    if kinds == {bool} and not isinstance(value, bool | None):  # whether a field may be None, its own check knows
        raise ValueError("must be true or false")
    return value


@functools.cache
def _kinds(model: type[BaseModel], field: str) -> frozenset[type]:
    """The types that a field may have, None left out."""

    def leaves(annotation: Any) -> set[Any]:
        if get_origin(annotation) is Literal:
            return {type(value) for value in get_args(annotation)}
        inside = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
        return set().union(*map(leaves, inside)) if inside else {annotation}

    return frozenset(leaves(model.model_fields[field].annotation) - {type(None)})


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
            line = f"{field}: {message}, got {shortened(repr(seen))}"
        lines.append(f"{source}: {line}" if source else line)
    return "\n".join(lines)
