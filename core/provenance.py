"""Where numbers come from: the versions, the device and the date that are stored with them and printed under them."""

import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from core import __version__

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "torchvision", "timm", "numpy", "scikit-learn")  # those that can change a measured number
SHOWN = ("contrastive_lens", "torch")  # versions printed under a chart
MANY_VERSIONS = 2  # above this only the first and the last are printed
MANY_SEEDS = 6  # above this the seeds are counted, not listed


@cache
def versions() -> dict[str, str]:
    """Versions of Python, of this code, and of the packages that can change a measured number.

    Returns:
        Name -> version, such as {"python": "3.12.1", "contrastive_lens": "0.1.0", "torch": "2.14.1", ...}. Nothing is imported.
    """
    found = {"python": platform.python_version(), "contrastive_lens": code_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def code_version() -> str:
    """This code's version: `git describe` in a clone, such as 0.1.0-14-g4c65ea6 (-dirty with local changes), else the release."""
    if not (ROOT / ".git").exists():
        return __version__
    try:
        described = subprocess.run(
            ["git", "describe", "--tags", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, timeout=5, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return __version__
    if not described:
        return __version__
    return described.removeprefix("v") if "." in described else f"{__version__}+g{described}"  # a clone without tags


@cache
def device_name() -> str:
    """The processor as its maker calls it, with the number of cores; nothing is imported. GPUs are named by the run itself."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{name}, {_cores()} core{'s' if _cores() != 1 else ''}"


def today() -> str:
    """The date in UTC, ISO 8601."""
    return datetime.now(UTC).date().isoformat()


def line(runs: pd.DataFrame | None, study: str = "", device: str = "", on: date | str | None = None) -> str:
    """The line that is printed under a chart or an export: how its numbers were made.

    Args:
        runs: The runs that the chart shows, columns as in `Store.table`; runs without a result are left out. None or an empty
            table for something computed on the spot.
        study: Name of the study.
        device: Where it ran; empty takes it from the runs.
        on: Date to print; None takes the span of the runs' ends, or today.

    Returns:
        Parts joined by " · ", such as "randbit-quick · mnist-5k, 4,000 training and 1,000 test images · 30 runs, seeds 0, 1, 2 ·
        Contrastive Lens 0.1.0, torch 2.14.1 · CPU, 1 thread · 2026-11-29".
    """
    if runs is not None and "finished_at" in runs:
        runs = runs[runs["finished_at"].astype(str) != ""]
    if runs is None or runs.empty:
        made = {key: [value] for key, value in versions().items()}
        return " · ".join(part for part in (study, _versions(made), device or device_name(), str(on or today())) if part)
    made = {}
    for entry in runs["versions"]:
        for key, value in (entry or {}).items():
            made.setdefault(key, []).append(value)
    parts = (study, _data(runs), _seeds(runs), _versions(made), device or _join(runs["device"]), str(on) if on else _dates(runs))
    return " · ".join(part for part in parts if part)


def data_name(dataset: str, data_root: object) -> str:
    """What a run's images are called: the data set, or for image folders the last part of the folder's path.

    Args:
        dataset: As in RunSpec.
        data_root: As in RunSpec; what is no text counts as none.
    """
    return PurePath(data_root).name if dataset == "folder" and isinstance(data_root, str) and data_root else dataset


def _data(runs: pd.DataFrame) -> str:
    roots = runs["data_root"] if "data_root" in runs else [None] * len(runs)
    names = [data_name(*pair) for pair in zip(runs["dataset"], roots, strict=True)]
    return f"{_join(names)}, {_range(runs['n_train'])} training and {_range(runs['n_test'])} test images"


def _seeds(runs: pd.DataFrame) -> str:
    seeds = sorted({int(seed) for seed in runs["seed"]})
    count = f"{len(runs):,} run{'s' if len(runs) != 1 else ''}"
    if len(seeds) > MANY_SEEDS:
        return f"{count}, {len(seeds)} seeds"
    return f"{count}, seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def _versions(made: dict[str, Iterable[str]]) -> str:
    names = {"contrastive_lens": "Contrastive Lens"}
    return ", ".join(f"{names.get(key, key)} {_span(made[key])}" for key in SHOWN if key in made)


def _dates(runs: pd.DataFrame) -> str:
    days = sorted(str(moment)[:10] for moment in runs["finished_at"])
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


def _range(numbers: Iterable[Any]) -> str:
    known = sorted({int(number) for number in numbers if number == number and number})  # NaN is not equal to itself
    if not known:
        return "unknown"
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"


def _span(values: Iterable[Any]) -> str:
    """Versions: all of them if they are few, else the first and the last with their number."""
    known = list(dict.fromkeys(str(value) for value in values if value))
    return f"{known[0]} to {known[-1]} ({len(known)} versions)" if len(known) > MANY_VERSIONS else _join(known)


def _join(values: Iterable[Any]) -> str:
    return " and ".join(dict.fromkeys(str(value) for value in values if value))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
