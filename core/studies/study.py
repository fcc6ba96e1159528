"""StudySpec: a question, and the grid of runs that answers it, as written in a TOML file.

    name = "randbit-quick"
    title = "RandBit in two minutes"
    question = "Do 15 random bits make a contrastive encoder blind to digits?"
    seeds = [0, 1, 2]

    [base]                 # fields of every run
    epochs = 20

    [[block]]              # one line of the figure
    label = "NT-Xent"
    objective = "nt_xent"  # fields of every run of the block

    [block.grid]           # every combination of these
    bits = [0, 5, 10]
    tau = [0.05, 0.1]

Pages import this module, so it must stay free of torch and Dask.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from core.studies.check import RUN_FIELDS, problems
from core.studies.names import StudyError, check_study
from core.training.spec import RunSpec
from core.validation import parse_toml

# Fields that decide how long a run takes, most telling first.
ALIKE = ("dataset", "encoder", "scene", "data_root")  # must agree, or times say nothing about each other
COST_FIELDS = (*ALIKE, "width", "image_size", "n_train", "objective", "augment", "device", "batch_size", "bits")


class Block(BaseModel):
    """One line of a study: fields that its runs share, and a grid of the fields that vary."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    fields: dict[str, Any] = {}
    grid: dict[str, tuple[Any, ...]] = {}
    seeds: tuple[int, ...] | None = None  # None: the study's seeds


class Cell(NamedTuple):
    """One point of a grid."""

    urgency: int  # 0 for the corners of the grid, 1 when some dial is at its middle, 2 at a quarter, ...
    values: dict[str, Any]


class Estimate(NamedTuple):
    """How long a study will take."""

    runs: int  # runs that are not done yet
    seconds: float | None  # wall time for them; None when nothing comparable was measured
    measured: int  # how many measured runs the estimate rests on


class StudySpec(BaseModel):
    """A study. `from_toml`, `from_text` and `from_dict` check it, and name file, block, field and value in their errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str = ""
    question: str = ""
    seeds: tuple[int, ...] = (0,)
    base: dict[str, Any] = {}
    blocks: tuple[Block, ...]

    @classmethod
    def from_toml(cls, path: str | Path) -> "StudySpec":
        """Read and check a study file.

        Args:
            path: A TOML file, UTF-8, with or without the mark that editors on Windows put before it.

        Returns:
            The study.

        Raises:
            StudyError: If the file cannot be read or holds a mistake; one line per mistake, each starting with the path.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise StudyError(f"{path}: cannot be read ({error.strerror or error})") from None
        except UnicodeDecodeError as error:
            raise StudyError(f"{path}: not UTF-8 text (byte {error.start})") from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, source: str = "study") -> "StudySpec":
        """Read and check the text of a study.

        Args:
            text: TOML.
            source: File or form that the text came from; starts each line of an error.

        Returns:
            The study.

        Raises:
            StudyError: If the text holds a mistake; one line per mistake.
        """
        try:
            content = parse_toml(text)
        except ValueError as error:
            raise StudyError(f"{source}: {error}") from None
        return cls.from_dict(content, source)

    def with_seeds(self, text: str) -> "StudySpec":
        """The same study with other seeds; blocks that name their own keep them.

        Args:
            text: Whole numbers from 0, separated by commas, such as "0,1,2".

        Raises:
            StudyError: If the text is something else.
        """
        seeds = text.replace(" ", "").split(",")
        if not all(seed.isdecimal() and int(seed) < 2**31 for seed in seeds):
            raise StudyError(f"seeds: whole numbers from 0, separated by commas, such as 0,1,2, got {text!r}")
        return StudySpec(**{**dict(self), "seeds": tuple(dict.fromkeys(int(seed) for seed in seeds))})

    @classmethod
    def from_dict(cls, content: dict[str, Any], source: str = "study") -> "StudySpec":
        """Check the content of a study file, or of a form.

        Args:
            content: As parsed from TOML: name, title, question, seeds, base, block (a list of tables).
            source: File or form that it came from; starts each line of an error.

        Returns:
            The study.

        Raises:
            StudyError: If it holds a mistake; one line per mistake.
        """
        found = problems(content)
        if not found:
            try:
                check_study(content["name"])
            except StudyError as error:
                found = [str(error)]
        if found:
            raise StudyError("\n".join(f"{source}: {line}" for line in found))
        header = {key: value for key, value in content.items() if key != "block"}
        return cls(**header, blocks=tuple(_blocks(content)))

    def to_toml(self) -> str:
        """The study as TOML; `from_text` of it gives an equal study."""
        parts = [f"{key} = {_toml(getattr(self, key))}" for key in ("name", "title", "question", "seeds")]
        if self.base:
            parts += ["", "[base]", *_assignments(self.base)]
        for block in self.blocks:
            parts += ["", "[[block]]", f"label = {_toml(block.label)}", *_assignments(block.fields)]
            if block.seeds is not None:
                parts.append(f"seeds = {_toml(block.seeds)}")
            if block.grid:
                parts += ["", "[block.grid]", *_assignments(block.grid)]
        return "\n".join(parts) + "\n"

    def expand(self) -> list[RunSpec]:
        """All runs, each once, in the order in which they are worth having.

        Returns:
            Runs of the first seed first; within a seed the ends of each dial, then its middle, then the quarters, across all
            blocks, so that every curve has its shape early.
        """
        return [run for _, run in self._runs.values()]

    def label_of(self, run: RunSpec | str) -> str:
        """The label of the block that a run belongs to; the first one's, if several blocks share it.

        Args:
            run: A run, or its id.

        Returns:
            The label; empty if the study does not contain the run.
        """
        number, _ = self._runs.get(run if isinstance(run, str) else run.run_id, (None, None))
        return "" if number is None else self.blocks[number].label

    @property
    def varied(self) -> tuple[str, ...]:
        """The fields that some grid varies, in the order in which they first appear."""
        return tuple(dict.fromkeys(field for block in self.blocks for field in block.grid))

    @cached_property
    def _runs(self) -> dict[str, tuple[int, RunSpec]]:
        """run_id -> (number of its block, run), in the order of `expand`."""
        runs: dict[str, tuple[int, RunSpec]] = {}
        for number, settings in self._settings():
            run = RunSpec(**settings)
            first, _ = runs.get(run.run_id, (number, run))
            runs[run.run_id] = (min(first, number), run)
        return runs

    def _settings(self) -> Iterator[tuple[int, dict[str, Any]]]:
        cells = [(cell.urgency, number, cell.values) for number, block in enumerate(self.blocks) for cell in _cells(block.grid)]
        cells.sort(key=lambda cell: cell[:2])  # stable: within a block and an urgency the order of the file
        seeds = [self.seeds if block.seeds is None else block.seeds for block in self.blocks]
        for turn in range(max(map(len, seeds))):
            for _, number, values in cells:
                if turn < len(seeds[number]):
                    yield number, {**self.base, **self.blocks[number].fields, **values, "seed": seeds[number][turn]}


def estimate(
    runs: StudySpec | Iterable[RunSpec], measured: Iterable[tuple[RunSpec, float]], workers: int = 1, done: Iterable[str] = ()
) -> Estimate:
    """How long the runs that are left will take, from runs that were timed.

    Args:
        runs: A study, or runs.
        measured: Timed runs with their seconds; from this study or another.
        workers: Runs at the same time, at least 1.
        done: Ids of runs that need not be run again.

    Returns:
        The estimate; runs that `seconds_each` cannot tell are taken to cost the mean of the others.
    """
    skip, timed = set(done), list(measured)
    left = [run for run in (runs.expand() if isinstance(runs, StudySpec) else runs) if run.run_id not in skip]
    if not left:
        return Estimate(0, 0.0, len(timed))
    costs = seconds_each(left, timed)
    known = [cost for cost in costs if cost is not None]
    if not known:
        return Estimate(len(left), None, 0)
    typical = sum(known) / len(known)
    seconds = sum(typical if cost is None else cost for cost in costs) / max(1, min(workers, len(left)))
    return Estimate(len(left), seconds, len(timed))


def seconds_each(runs: Iterable[RunSpec], measured: Iterable[tuple[RunSpec, float]]) -> list[float | None]:
    """Seconds that each run will take.

    Args:
        runs: What is to be run.
        measured: Timed runs with their seconds.

    Returns:
        For each run the mean of the timed runs that agree with it in most of `COST_FIELDS`, the first ones counting most, scaled
        by epochs. None where no run of the same data set, scene and encoder was timed.
    """
    sums: dict[tuple, list[float]] = {}
    for run, seconds in measured:
        sums.setdefault(_cost_key(run), []).append(seconds)
    timed = {key: sum(values) / len(values) for key, values in sums.items()}
    known: dict[tuple, float | None] = {}
    keys = [_cost_key(run) for run in runs]
    for key in set(keys):
        known[key] = _seconds(key, timed)
    return [known[key] for key in keys]


def _cost_key(run: RunSpec) -> tuple:
    if run.dataset != "folder":  # where a named data set lies does not matter
        run = run.model_copy(update={"data_root": None})
    return (run.epochs, *(getattr(run, field) for field in COST_FIELDS))


def _seconds(key: tuple, timed: Mapping[tuple, float]) -> float | None:
    best, nearest = (), []
    epochs, *fields = key
    for (other_epochs, *other_fields), seconds in timed.items():
        agree = tuple(one == other for one, other in zip(fields, other_fields, strict=True))
        if not all(agree[: len(ALIKE)]) or (epochs == 0) != (other_epochs == 0):
            continue
        if agree > best:
            best, nearest = agree, []
        if agree == best:
            nearest.append(seconds * (epochs / other_epochs if other_epochs else 1.0))
    return sum(nearest) / len(nearest) if nearest else None


def _blocks(content: Mapping[str, Any]) -> Iterator[Block]:
    """The blocks of a checked definition; one without a label gets its objective's name, numbered if that is taken."""
    taken = {block["label"] for block in content["block"] if "label" in block}
    for raw in content["block"]:
        fields = {field: value for field, value in raw.items() if field in RUN_FIELDS}
        label = raw.get("label")
        if label is None:
            objective = fields.get("objective", content.get("base", {}).get("objective", RunSpec().objective))
            label = next(name for n in itertools.count(1) if (name := objective if n == 1 else f"{objective} {n}") not in taken)
            taken.add(label)
        yield Block(label=label, fields=fields, grid=raw.get("grid", {}), seeds=raw.get("seeds"))


def _cells(grid: Mapping[str, tuple[Any, ...]]) -> list[Cell]:
    """Every point of a grid with its urgency: that of its least urgent dial."""
    dials = [list(zip(_urgencies(len(values)), values, strict=True)) for values in grid.values()]
    return [
        Cell(max((urgency for urgency, _ in point), default=0), dict(zip(grid, (value for _, value in point), strict=True)))
        for point in itertools.product(*dials)
    ]


def _urgencies(count: int) -> list[int]:
    """0 for both ends of a dial, 1 for its middle, 2 for the middles of what is left, and so on."""
    urgencies = [0] * count
    gaps = [(0, count - 1)]
    for urgency in itertools.count(1):
        gaps = [gap for gap in gaps if gap[1] - gap[0] > 1]
        if not gaps:
            return urgencies
        middles = [(low, (low + high) // 2, high) for low, high in gaps]
        for _, middle, _ in middles:
            urgencies[middle] = urgency
        gaps = [gap for low, middle, high in middles for gap in ((low, middle), (middle, high))]
    return urgencies


def _assignments(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in table.items()]


def _toml(value: Any) -> str:
    """A string, number, boolean or flat list as TOML; JSON is the same for these, but for one control character."""
    text = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
