"""One anchor's scores, what the softmax makes of them, and the gradient that results."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.roles import NEGATIVE, POSITIVE, at_tau
from core.figures.text import percent, signed
from core.figures.theme import Theme, rgba, style
from core.losses.softmax import gradient, info_nce, push_shares, scaled_gradient, softmax

HEIGHT = 400


class Candidates(NamedTuple):
    """One anchor's candidates: single negatives, and a crowd of equal ones that is drawn as one bar."""

    positive: float  # similarity
    negatives: tuple[float, ...]  # similarities of the single negatives
    crowd: int = 0  # how many more
    crowd_score: float = 0.0  # their common similarity

    @property
    def all_negatives(self) -> np.ndarray:
        """(K,) similarities of all negatives, the crowd last."""
        return np.concatenate([np.asarray(self.negatives, dtype=float), np.full(self.crowd, self.crowd_score)])

    @property
    def counted(self) -> tuple[list[float], list[int]]:
        """Scores of the negatives and how often each occurs, the crowd as one entry."""
        crowd = [self.crowd_score] if self.crowd else []
        return [*self.negatives, *crowd], [*[1] * len(self.negatives), *([self.crowd] if self.crowd else [])]


def anchor_softmax(candidates: Candidates, tau: float, theme: Theme) -> go.Figure:
    """Three bar panels over the same candidates: score, probability with the loss under it, gradient.

    Args:
        candidates: Similarities of the positive and the negatives.
        tau: Temperature; 0 and infinity draw the limits, with tau times the gradient in the third panel.
        theme: Colours.
    """
    single = len(candidates.negatives)
    negatives = candidates.all_negatives
    shares = softmax([candidates.positive, *negatives], tau)
    limit = tau in (0, np.inf)
    pull = scaled_gradient(candidates.positive, negatives, tau) if limit else gradient(candidates.positive, negatives, tau)
    names = ["positive", *(f"negative {i + 1}" for i in range(single))]
    scores = [candidates.positive, *candidates.negatives]
    if candidates.crowd:
        names.append(f"{candidates.crowd:,} {'more' if single else 'negatives'}")
        scores.append(candidates.crowd_score)
    probability = _folded(shares, single)[: len(names)]
    slope = [value + 0.0 for value in _folded(np.concatenate([[pull.positive], pull.negatives]), single)[: len(names)]]  # no −0
    fig = make_subplots(
        cols=3,
        shared_yaxes=True,
        horizontal_spacing=0.035,
        subplot_titles=("Score s", "Probability P", "tau × gradient, tau ∂L/∂s" if limit else "Gradient ∂L/∂s"),
    )
    colors = [POSITIVE, *[NEGATIVE] * (len(names) - 1)]
    if candidates.crowd:
        colors[-1] = rgba(NEGATIVE, 0.5)
    for column, (values, text) in enumerate(
        (
            (scores, [signed(v) for v in scores]),
            (probability, [_share(v) for v in probability]),
            (slope, [signed(v) for v in slope]),
        ),
        start=1,
    ):
        fig.add_bar(
            x=np.asarray(values, np.float32),
            y=names,
            orientation="h",
            marker_color=colors,
            row=1,
            col=column,
            showlegend=False,
            text=text,
            textposition="outside",
            cliponaxis=False,
            textfont=dict(color=theme.text, size=13),
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    reach = float(np.abs(slope).max()) or 1.0  # in the limit tau → 0 a positive that wins leaves no gradient at all
    low, high = min(slope) < 0, max(slope) > 0
    zero = dict(zeroline=True, zerolinecolor=theme.theory, zerolinewidth=1)
    rows = dict(autorange="reversed", showgrid=False, ticks="")
    panel_names = [
        {**note.to_plotly_json(), "font": dict(size=14, color=theme.muted), "yshift": 2} for note in fig.layout.annotations
    ]
    layout = dict(
        xaxis=dict(range=[-1.38, 1.38], tickvals=[-1, 0, 1], **zero),
        xaxis2=dict(range=[0, 1.25], tickvals=[0, 0.5, 1], title=dict(text=_loss(candidates, tau)), **zero),
        xaxis3=dict(range=[-1.75 * reach if low else 0, 1.75 * reach if high else 0.1 * reach], nticks=5, **zero),
        yaxis=rows,
        yaxis2=rows,
        yaxis3=rows,
        annotations=panel_names,
        bargap=0.35,
        margin=dict(t=92),
    )
    return style(fig, theme, title=title(candidates, tau), subtitle=_subtitle(candidates), height=HEIGHT, layout=layout)


def title(candidates: Candidates, tau: float) -> str:
    """Who gets what, in one sentence."""
    negatives = candidates.all_negatives
    share = float(softmax([candidates.positive, *negatives], tau)[0])
    hardest = push_shares(negatives, tau).max()
    if len(negatives) > 1 and np.ptp(negatives) < 1e-12:
        return f"{at_tau(tau)} the positive has {percent(share)}; equal negatives share the push equally"
    return f"{at_tau(tau)} the positive has {percent(share)} and the hardest negative takes {percent(hardest)} of the push"


def _subtitle(candidates: Candidates) -> str:
    count = len(candidates.all_negatives)
    together = f" · light bar: the score of each of {candidates.crowd:,}, then their sums" if candidates.crowd > 1 else ""
    return f"K = {count:,} negatives, K + 1 = {count + 1:,} terms in the softmax{together}"


def _loss(candidates: Candidates, tau: float) -> str:
    """The loss as it follows from the probability of the positive."""
    loss = info_nce(candidates.positive, candidates.all_negatives, tau)
    return f"Loss −log P⁺ = {'∞' if np.isinf(loss) else signed(loss, 4)}"


def _folded(values: np.ndarray, single: int) -> list[float]:
    """The positive, the single negatives, and the sum over the crowd."""
    return [*values[: single + 1].tolist(), float(values[single + 1 :].sum())]


def _share(value: float) -> str:
    """A probability: three decimals, or a power of ten where they would all be zero."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else signed(value, 2)
