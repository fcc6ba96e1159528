"""Find the mistakes in a study definition, and say for each where it is, which value was seen and what is allowed."""

import difflib
import itertools
from math import prod
from typing import Any

from pydantic import ValidationError

from core.training.spec import RunSpec
from core.validation import explain

MAX_RUNS = 100_000  # a larger grid is a slip of the pen
STUDY_FIELDS = ("name", "title", "question", "seeds", "base", "block")
RUN_FIELDS = tuple(field for field in RunSpec.model_fields if field != "seed")
BLOCK_FIELDS = ("label", "seeds", "grid", *RUN_FIELDS)


def problems(content: dict[str, Any]) -> list[str]:
    """All mistakes that can be named at once; later checks need the earlier ones to pass.

    Args:
        content: A parsed study file.

    Returns:
        One line per mistake, empty if the definition is sound.
    """
    return _of_header(content) or _of_tables(content) or _of_runs(content)


def place(number: int, block: dict[str, Any]) -> str:
    """How a block is called in an error: `block 2 (Supervised)`, counted from 1."""
    return f"block {number + 1} ({block['label']})" if isinstance(block.get("label"), str) else f"block {number + 1}"


def _of_header(content: dict[str, Any]) -> list[str]:
    lines = [_unknown("", field, value, STUDY_FIELDS) for field, value in content.items() if field not in STUDY_FIELDS]
    if "name" not in content:
        lines.append("name: required, but not given")
    lines += [f"{field}: must be text, got {content[field]!r}" for field in ("title", "question") if not _is(content, field, str)]
    lines += _of_seeds("seeds", content.get("seeds", [0]))
    if not _is(content, "base", dict):
        lines.append(f"base: must be a table, [base], got {content['base']!r}")
    blocks = content.get("block")
    if not blocks:
        lines.append("block: at least one [[block]] table is needed")
    elif not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        lines.append("block: must be written as [[block]] tables, with two brackets")
    return lines


def _of_tables(content: dict[str, Any]) -> list[str]:
    base = content.get("base", {})
    lines = [_unknown("base: ", field, value, RUN_FIELDS) for field, value in base.items() if field not in RUN_FIELDS]
    labels: dict[str, int] = {}
    for number, block in enumerate(content["block"]):
        where = place(number, block) + ": "
        lines += [_unknown(where, field, value, BLOCK_FIELDS) for field, value in block.items() if field not in BLOCK_FIELDS]
        lines += [where + line for line in _of_seeds("seeds", block.get("seeds", [0]))]
        label = block.get("label")
        if label is not None and (not isinstance(label, str) or not label.strip()):
            lines.append(f"{where}label: must be text, got {label!r}")
        elif label in labels:
            lines.append(f"{where}label: {label!r} is already the label of block {labels[label] + 1}; labels must differ")
        elif label is not None:
            labels[label] = number
        lines += [where + line for line in _of_grid(block)]
    return lines


def _of_grid(block: dict[str, Any]) -> list[str]:
    grid = block.get("grid", {})
    if not isinstance(grid, dict):
        return [f"grid: must be a table of lists, [block.grid], got {grid!r}"]
    lines = []
    for field, values in grid.items():
        if field not in RUN_FIELDS:
            lines.append(_unknown("grid.", field, values, RUN_FIELDS))
        elif not isinstance(values, list):
            lines.append(f"grid.{field}: must be a list of values, got {values!r}; a single value belongs in the block itself")
        elif not values:
            lines.append(f"grid.{field}: must hold at least one value, got an empty list")
        elif field in block:
            lines.append(f"grid.{field}: {field} is also set in the block itself ({block[field]!r}); keep one of the two")
        else:
            twice = next((value for index, value in enumerate(values) if value in values[:index]), None)
            if twice is not None:
                lines.append(f"grid.{field}: each value may appear once, got {twice!r} twice")
    return lines


def _of_runs(content: dict[str, Any]) -> list[str]:
    base, seeds = content.get("base", {}), content.get("seeds", [0])
    total = sum(prod(map(len, block.get("grid", {}).values())) * len(block.get("seeds", seeds)) for block in content["block"])
    if total > MAX_RUNS:
        return [f"grid: the study would have {total:,} runs; at most {MAX_RUNS:,} are allowed"]
    lines: dict[str, None] = {}  # a wrong value meets every value of the other dials; it is named once
    for number, block in enumerate(content["block"]):
        fixed = {field: value for field, value in block.items() if field in RUN_FIELDS}
        grid = block.get("grid", {})
        for values in itertools.product(*grid.values()):
            try:
                RunSpec(**{**base, **fixed, **dict(zip(grid, values, strict=True))})
            except ValidationError as error:
                for problem, line in zip(error.errors(include_url=False), explain(error).splitlines(), strict=False):
                    field = str(problem["loc"][0]) if problem["loc"] else line.split(":")[0]
                    if field in grid:
                        where = f"{place(number, block)}: grid."
                    elif field in base and field not in fixed:
                        where = "base: "
                    else:
                        where = f"{place(number, block)}: "
                    lines[where + line] = None
    return sorted(lines, key=lambda line: not line.startswith("base"))


def _of_seeds(name: str, seeds: Any) -> list[str]:
    if not isinstance(seeds, list) or not seeds:
        return [f"{name}: must be a list with at least one whole number, got {seeds!r}"]
    lines = [
        f"{name}: must be whole numbers from 0 to {2**31 - 1}, got {seed!r}"
        for seed in seeds
        if type(seed) is not int or not 0 <= seed < 2**31
    ]
    if not lines and len(set(seeds)) < len(seeds):
        lines.append(f"{name}: each seed may appear once, got {seeds!r}")
    return lines


def _is(content: dict[str, Any], field: str, kind: type) -> bool:
    return field not in content or isinstance(content[field], kind)


def _unknown(where: str, field: str, value: Any, known: tuple[str, ...]) -> str:
    if field == "seed":
        return f"{where}seed: written as seeds = [0, 1, 2], in the study or in a block, got {value!r}"
    near = difflib.get_close_matches(field, known, n=1)
    advice = f"did you mean {near[0]}?" if near else "remove it or check its spelling"
    shown = "a table" if isinstance(value, dict) else f"value {value!r}"
    return f"{where}{field}: unknown field ({shown}); {advice}"
