"""View: the same scores through cross entropy over classes, NCE and InfoNCE, formula by formula."""

import math

import numpy as np
import streamlit as st

from core.figures.text import signed
from core.figures.three_losses import Readings, read, three_losses
from core.glossary import help_text
from core.losses.relatives import class_cross_entropy, nce
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE
from pages.parts.slip import slip
from pages.parts.tau_slider import tau_slider

START = (0.8, 0.6, 0.2, -0.3)

DIFFERENCES = """
| | cross entropy over classes | NCE | InfoNCE |
|---|---|---|---|
| asks | which class is it? | data or noise, for each sample alone | which candidate is the partner? |
| outputs | one per class | one sigmoid per sample | K + 1: the positive and K negatives |
| weights in the scores | learned class vectors | a model of the density | features of the other samples |
| right answer | the label, any index | data or noise | always the positive, index 0 |
| normaliser | computed | learned as part of the score | cancels; no scale is learned |
| best score means | log posterior of the class | log density | log ratio p(x given c) / p(x) |
"""


@st.fragment
def losses_side_by_side() -> None:
    """Sliders, the three readings, the proof on these numbers, the table of differences."""
    cells = st.grid(4, min_column_width=170)
    scores = np.array([_score(cells, place, start) for place, start in enumerate(START)])
    with cells.cell():
        tau = tau_slider("nce_tau", 0.5, low=0.05, high=5.0)
    with cells.cell():
        target = st.selectbox(
            "Right class (cross entropy)",
            range(len(scores)),
            key="nce_target",
            bind="query-params",
            persist_state="session",
            help="In classification any class can be right. InfoNCE always has its positive at index 0.",
        )
    with cells.cell():
        ratio = st.slider(
            "NCE offset log(k pₙ)",
            -5.0,
            3.0,
            0.0,
            0.5,
            key="nce_offset",
            bind="query-params",
            persist_state="session",
            help=help_text("nce"),
        )
    with cells.cell():
        shift = st.slider(
            "Add to every logit",
            -5.0,
            5.0,
            0.0,
            0.5,
            key="nce_shift",
            bind="query-params",
            persist_state="session",
            help="A softmax does not notice a constant. A sigmoid does.",
        )
    readings = read(scores, tau, target, ratio, shift)
    show(
        three_losses(readings, current_theme()),
        key="nce_three",
        alt="Gradient and probability of each score under cross entropy over classes, NCE and InfoNCE, side by side.",
        save=HERE,
    )
    _formulas(scores / tau + shift, readings, ratio)
    _slips(scores / tau + shift)
    st.markdown(DIFFERENCES)


def _score(cells, place: int, start: float) -> float:
    with cells.cell():
        label = "Positive, or class 0" if place == 0 else f"Negative, or class {place}"
        return st.slider(label, -1.0, 1.0, start, 0.05, key=f"nce_s{place}", bind="query-params", persist_state="session")


def _formulas(logits: np.ndarray, readings: Readings, ratio: float) -> None:
    """One formula per loss with the numbers of now, and the difference of the two softmax losses."""
    total = float(np.logaddexp.reduce(logits))
    y = readings.target
    data = readings.nce.probabilities
    terms = " + ".join(f"{-math.log(max(p, 1e-300)):.3f}" for p in (data[0], *(1 - data[1:])))
    parts = " + ".join(f"e^{{{logit - logits[0]:.2f}}}" for logit in logits[1:])
    st.latex(
        r"\begin{aligned}"
        r"L_\mathrm{CE} &= -\log \frac{e^{z_y}}{\sum_k e^{z_k}} = -z_y + \log \textstyle\sum_k e^{z_k}"
        rf" = {-logits[y]:.3f} + {total:.3f} = {readings.classes.loss:.4f} \\[4pt]"
        r"L_\mathrm{NCE} &= -\log \sigma(z_0 - o) - \textstyle\sum_{k \ge 1} \log\bigl(1 - \sigma(z_k - o)\bigr)"
        rf"\\ &= {terms} = {readings.nce.loss:.4f} \\[4pt]"
        r"L_\mathrm{InfoNCE} &= \log\Bigl(1 + \textstyle\sum_{k \ge 1} e^{z_k - z_0}\Bigr)"
        rf" = \log(1 + {parts}) = {readings.info_nce.loss:.4f}"
        r"\end{aligned}"
    )
    st.caption(f"Logits z = s/tau plus the constant; y is the right class of the cross entropy; o = {ratio:g} is NCE's offset.")
    zero = class_cross_entropy(logits, 0).loss
    difference = abs(zero - readings.info_nce.loss)
    st.markdown(
        f"**On these numbers:** cross entropy with target 0 is {zero:.12f}, InfoNCE, by its own formula, is "
        f"{readings.info_nce.loss:.12f}: the difference is {signed(difference, 2)}."
    )


def _slips(logits: np.ndarray) -> None:
    count = len(logits)
    slip("terms", f"K = {count - 1} negatives make {count} bars, and guessing costs log {count} = {math.log(count):.3f} nats.")
    slip(
        "only_k_differs",
        "choose another right class above: cross entropy now pulls that score up, InfoNCE still pulls index 0. The table below "
        "says whose features are the weights.",
    )
    here, moved = nce(logits[0], logits[1:]).loss, nce(logits[0] + 1, logits[1:] + 1).loss
    slip(
        "expensive",
        f"add 1 to every logit: the softmax losses stay, NCE without offset goes from {here:.3f} to {moved:.3f}. Only NCE can "
        "see, and so learn, the scale of a density.",
    )
