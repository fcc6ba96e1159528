"""View: one anchor's scores through the softmax, with a slider for each score and for the temperature."""

import math

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.figures.anchor_softmax import Candidates, anchor_softmax
from core.figures.roles import tau_text
from core.figures.temperature_sweep import effective_negatives, gradient_size
from core.figures.text import signed
from core.glossary import help_text
from core.losses.softmax import cold_limit, effective_number, entropy, entropy_slope, hot_slope, info_nce, push_shares, softmax
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE
from pages.parts.slip import slip
from pages.parts.tau_slider import tau_slider
from pages.parts.temperature.presets import PRESETS

START = PRESETS["hard"]
ALMOST_ONE = 0.999  # from here on four digits of a probability lose its distance from 1


@st.fragment
def one_anchor() -> None:
    """Scores, softmax, gradient; the numbers with their formulas; the same against tau."""
    tau = tau_slider("tmp_tau", 0.1, limits=True)
    chart, numbers = st.container(), st.container()
    candidates = _score_sliders()
    with chart:
        show(
            anchor_softmax(candidates, tau, current_theme()),
            key="tmp_anchor",
            alt=(
                "Three bar charts over the positive and the negatives of one anchor: similarity, softmax probability and "
                "gradient."
            ),
            save=HERE,
        )
    with numbers:
        _metrics(candidates, tau)
    left_and_right = st.grid(2, min_column_width=420)
    with left_and_right.cell():
        show(
            effective_negatives(candidates, tau, current_theme()),
            key="tmp_effective",
            alt="Effective number of negatives rising from 1 to K as the temperature grows, on two log axes.",
            save=HERE,
        )
    with left_and_right.cell():
        show(
            gradient_size(candidates, tau, current_theme()),
            key="tmp_gradient",
            alt="Pull on the positive against temperature on two log axes, beside the line 1 over tau.",
            save=HERE,
        )
    _slips(candidates, tau)
    with st.expander("The formulas with these numbers", expanded=False):
        _formulas(candidates, tau)
    with st.expander("Every candidate: score, logit, exponential, probability"):
        st.dataframe(_table(candidates, tau), hide_index=True, alt="Score, logit, exponential and probability of each candidate.")


def _score_sliders() -> Candidates:
    """Sliders for the positive, four negatives and a crowd of equal ones; buttons that set them all."""
    with st.container(horizontal=True):
        for name, preset in PRESETS.items():
            st.button(preset.title, key=f"tmp_preset_{name}", on_click=_apply, args=(name,), help=preset.shows)
    cells = st.grid(4, min_column_width=170)
    positive = _score(cells, "Positive", "tmp_pos", START.positive)
    negatives = tuple(_score(cells, f"Negative {i + 1}", f"tmp_n{i + 1}", score) for i, score in enumerate(START.negatives))
    with cells.cell():
        crowd = st.number_input(
            "More negatives",
            0,
            65531,
            START.crowd,
            key="tmp_crowd",
            bind="query-params",
            persist_state="session",
            help="This many further negatives, all with the score at the right. K is four more.",
        )
    crowd_score = _score(cells, "Their score", "tmp_crowd_score", START.crowd_score)
    return Candidates(positive, negatives, int(crowd), crowd_score)


def _score(cells, label: str, key: str, start: float) -> float:
    with cells.cell():
        return st.slider(label, -1.0, 1.0, start, 0.05, key=key, bind="query-params", persist_state="session")


def _apply(name: str) -> None:
    """Put a preset's scores on the sliders."""
    preset = PRESETS[name]
    values = {"tmp_pos": preset.positive, "tmp_crowd": preset.crowd, "tmp_crowd_score": preset.crowd_score}
    values |= {f"tmp_n{i + 1}": score for i, score in enumerate(preset.negatives)}
    st.session_state.update(values)


def _metrics(candidates: Candidates, tau: float) -> None:
    negatives = candidates.all_negatives
    shares = push_shares(negatives, tau)
    loss = info_nce(candidates.positive, negatives, tau)
    chance = math.log(len(negatives) + 1)
    cells = st.grid(5, min_column_width=130)
    for label, value, key in (
        ("Loss", number(loss), "info_nce"),
        ("Collapsed loss", number(chance), "chance_loss"),
        ("P⁺, positive", number(float(softmax([candidates.positive, *negatives], tau)[0])), "candidates"),
        ("Push entropy", number(entropy(shares)), "effective_negatives"),
        ("Effective negatives", f"{effective_number(negatives, tau):,.1f} of {len(negatives):,}", "effective_negatives"),
    ):
        cells.metric(label, value, help=help_text(key))


def _slips(candidates: Candidates, tau: float) -> None:
    negatives = candidates.all_negatives
    count = len(negatives)
    slip(
        "terms",
        f"K = {count:,} negatives make {count + 1:,} terms, and guessing costs log({count + 1:,}) = {math.log(count + 1):.3f}.",
    )
    low = min(float(negatives.min()), -0.05)
    slip(
        "smaller_exponentials",
        f"the score {minus(low)} has exp(s/tau) = {math.exp(low / 0.1):.3g} at tau 0.1, {math.exp(low):.3g} at tau 1 and "
        f"{math.exp(low / 10):.3g} at tau 10.",
    )
    slip(
        "only_smoothing",
        "in the chart “Pull on the positive” the pull follows the grey line 1/tau at large tau, where the shares have settled.",
    )


def _formulas(candidates: Candidates, tau: float) -> None:
    """Each formula beside the number it gives."""
    negatives, positive = candidates.all_negatives, candidates.positive
    count, largest = len(negatives), float(negatives.max())
    if tau == 0:
        limit = cold_limit(positive, negatives)
        st.latex(
            rf"\lim_{{\tau\to 0}} \tau L = \max(s_{{\max}} - s^+, 0) = \max({largest:.3g} - {positive:.3g},\ 0) = {limit:.4g}"
        )
        st.markdown("A triplet loss without a margin: only the hardest negative counts, and only while it beats the positive.")
        return
    if tau == math.inf:
        st.latex(
            rf"L \to \log N + \tfrac1\tau\Bigl(\tfrac1N\textstyle\sum_k s_k - s^+\Bigr)"
            rf" = {math.log(count + 1):.4g} {hot_slope(positive, negatives):+.4g}\,/\,\tau,\qquad N = K + 1 = {count + 1}"
        )
        st.markdown("Linear in the scores: every negative is pushed with the same weight 1/N, however similar it is.")
        return
    shares = softmax([positive, *negatives], tau)
    push = push_shares(negatives, tau)
    t = f"{tau:.3g}"
    st.latex(
        rf"L = -\log\frac{{e^{{s^+/\tau}}}}{{\sum_{{k=0}}^{{K}} e^{{s_k/\tau}}}}"
        rf" = {_log_of(shares, positive, negatives, tau)} = {latex_number(info_nce(positive, negatives, tau))}"
    )
    st.latex(
        rf"\frac{{\partial L}}{{\partial s^+}} = -\frac{{1 - P^+}}{{\tau}} = -\frac{{{latex_number(shares[1:].sum())}}}{{{t}}}"
        rf" = {latex_number(-shares[1:].sum() / tau)}"
    )
    st.latex(
        r"\sum_j \frac{\partial L}{\partial s_j} = \sum_j \frac{P_j}{\tau}"
        rf" = {latex_number(shares[1:].sum() / tau)}, \qquad \text{{as much as the pull on the positive}}"
    )
    st.latex(
        rf"n_{{\mathrm{{eff}}}} = e^{{H(r)}} = e^{{{latex_number(entropy(push))}}}"
        rf" = {latex_number(effective_number(negatives, tau))}"
    )
    st.latex(rf"\frac{{dH}}{{d\tau}} = \frac{{\mathrm{{Var}}_r(s)}}{{\tau^3}} = {latex_number(entropy_slope(negatives, tau))}")
    st.markdown(
        "$r_j$ is the share of the push on negative $j$, a softmax over the negatives alone; its entropy never falls as tau "
        "grows."
    )


def _log_of(shares: NDArray, positive: float, negatives: NDArray, tau: float) -> str:
    """The loss as a logarithm whose argument can be told from 1."""
    if shares[0] < ALMOST_ONE:
        return rf"-\log {latex_number(shares[0])}"
    odds = float(np.exp((np.asarray(negatives) - positive) / tau).sum())
    return rf"\log(1 + {latex_number(odds)})"


def _table(candidates: Candidates, tau: float) -> pd.DataFrame:
    """One row per bar; the limits have no logits."""
    scores = [candidates.positive, *candidates.negatives]
    names = ["positive", *(f"negative {i + 1}" for i in range(len(candidates.negatives)))]
    if candidates.crowd:
        scores.append(candidates.crowd_score)
        names.append(f"each of {candidates.crowd:,} more")
    shares = softmax([candidates.positive, *candidates.all_negatives], tau)[: len(names)]
    finite = tau > 0
    logits = [score / tau if finite else math.nan for score in scores]
    return pd.DataFrame(
        {
            "candidate": names,
            "score s": scores,
            f"s/tau, tau {tau_text(tau)}": logits,
            "exp(s/tau)": [f"{math.exp(logit):.4g}" if logit < 700 else f"e^{logit:.0f}" for logit in logits] if finite else "",
            "probability": [f"{share:.4g}" for share in shares],
        }
    )


def number(value: float) -> str:
    """A number of a metric card: four significant digits, a real minus, the infinity sign."""
    if math.isinf(value):
        return "∞"
    if value != 0 and abs(value) < 1e-3:
        return signed(value, 2)
    return f"{value:.3f}".replace("-", "−")


def minus(value: float) -> str:
    """Two significant digits with a real minus sign."""
    return f"{value:.2g}".replace("-", "−")


def latex_number(value: float) -> str:
    """Four significant digits; powers of ten where plain digits would be long."""
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    digits, power = text.split("e")
    return rf"{digits}\times 10^{{{int(power)}}}"
