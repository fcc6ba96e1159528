"""View: what a softmax over every instance costs, measured, against a queue of keys."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.figures.full_softmax_cost import full_softmax_cost
from pages.parts.chart import current_theme, footer, show
from pages.parts.save import Save

FILE = Path(__file__).resolve().parents[3] / "data" / "results" / "benchmarks" / "full_softmax.json"
COMMAND = "python -m tests.benchmarks.full_softmax --write"


@st.fragment
def full_softmax() -> None:
    """The measured curves, what they mean, and how they were measured."""
    benchmark = _read(FILE, FILE.stat().st_mtime_ns if FILE.is_file() else 0)
    if benchmark is None:
        st.warning(f"The measurement is missing. It is made by `{COMMAND}`, in about a minute.", icon=":material/timer_off:")
        return
    settings, made, machine = (benchmark[part] for part in ("settings", "versions", "machine"))
    line = (
        f"One step, forward and backward, fastest of {settings['repeats']}; extra peak memory of a fresh process for each size · "
        f"torch {made['torch']} · {machine['processor']}, {settings['threads']} thread · {benchmark['measured_at'][:10]}"
    )
    rows = lambda: pd.DataFrame(benchmark["rows"])  # noqa: E731
    show(
        full_softmax_cost(benchmark, current_theme()),
        key="nce_cost",
        alt=(
            "Memory and time of one training step against the number of softmax terms on log axes, all instances against a queue."
        ),
        save=Save(name="full-softmax", provenance=line, data=rows),
    )
    st.markdown(
        "Instance discrimination makes every image its own class. A full softmax then holds a weight vector for each image, "
        "and for each image of the batch one logit per image of the data set, its log-softmax, and a gradient of each: all grow "
        "with the data. A queue costs as much for each of its keys, but it has as many as one chooses, however large the data, "
        "and they need no gradient."
    )
    st.latex(
        r"\text{bytes} \approx 4\,\bigl(\underbrace{4\,B\,N}_{\text{logits, log-softmax, a gradient of each}} +"
        r" \underbrace{N\,d}_{\text{weights}}\bigr)"
    )
    st.caption(
        f"At the peak of a step, with batch B = {settings['batch']}, d = {settings['dim']} dimensions and N terms, in float32: "
        "the thin line. The gradient of the weights is made after the peak, when other tables are gone. Small sizes lie above "
        "the line, because the process keeps small blocks that were freed."
    )
    footer(line, name="full_softmax", key="nce_cost", data=rows)


@st.cache_data(max_entries=2, show_spinner=False)
def _read(path: Path, changed: int) -> dict[str, Any] | None:
    """The benchmark file; None if it is missing or broken. `changed` makes a new file a new entry."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
