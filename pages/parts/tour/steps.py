"""The eight steps of the guided tour: what to do, what to look for, and the answer, worked out from the picture's own numbers."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from core.figures.anchor_softmax import Candidates, anchor_softmax
from core.figures.circle_forces import circle_forces
from core.figures.hard_and_false import hard_and_false
from core.figures.information_bound import information_bound
from core.figures.temperature_sweep import effective_negatives, gradient_size
from core.figures.theme import Theme
from core.figures.three_losses import read, three_losses
from core.losses import information_table
from core.losses.hardness import unit_rows
from core.losses.information_table import DIMENSIONS, SIZES
from core.losses.softmax import effective_number, gradient, push_shares
from pages.parts.chart import show
from pages.parts.save import HERE
from pages.parts.tau_slider import offered, tau_slider
from pages.parts.temperature.circle import ARRANGEMENTS
from pages.parts.temperature.presets import PRESETS
from pages.parts.temperature.sources import made_up

TEMPERATURE, INFONCE = "pages/understand/temperature.py", "pages/understand/infonce.py"
HARD = PRESETS["hard"]
SCORES = Candidates(HARD.positive, HARD.negatives, HARD.crowd, HARD.crowd_score)
MOST = 0.9  # share of the push that counts as nearly all
ANCHOR = 3  # row of the made-up embedding
TOP = 0.05  # of the negatives count as hard
SHARED_DIM = DIMENSIONS[-1]
RHO = 0.9


class Step(NamedTuple):
    """One station of the tour."""

    title: str
    text: str
    draw: Callable[[Theme], None]  # one control and one picture
    question: str
    answer: Callable[[], str]
    page: str  # where there is more
    view: str


def _choice(theme: Theme) -> None:
    count = st.slider("Negatives K", 1, 31, 7, key="tour_k")
    show(
        anchor_softmax(Candidates(1.0, (1.0,) if count == 1 else (), 0 if count == 1 else count, 1.0), 0.1, theme),
        key="tour_choice",
        alt="Equal scores of one positive and K negatives, and their equal probabilities.",
        save=HERE,
    )


def _choice_answer() -> str:
    return (
        f"Eight choices: seven negatives and the positive. Each has probability 1/8, so the loss is log 8 = {math.log(8):.3f}, "
        "whatever tau is. This collapsed value is the height of a loss that knows nothing."
    )


def _cold(theme: Theme) -> None:
    tau = tau_slider("tour_cold_tau", 0.5, low=0.01, high=1.0)
    show(
        anchor_softmax(SCORES, tau, theme),
        key="tour_cold",
        alt="Score, probability and gradient of one anchor's candidates at the chosen tau.",
        save=HERE,
    )


def _cold_answer() -> str:
    taus = [tau for tau in offered(0.01, 1.0) if push_shares(SCORES.all_negatives, tau).max() > MOST]
    share = push_shares(SCORES.all_negatives, taus[-1]).max()
    return (
        f"From tau {taus[-1]:g} down: there it takes {share:.0%}. As tau → 0 only the hardest negative is left, and tau times "
        "the loss becomes a triplet loss without margin."
    )


def _hot(theme: Theme) -> None:
    tau = tau_slider("tour_hot_tau", 0.1, low=0.005, high=100.0)
    show(
        effective_negatives(SCORES, tau, theme),
        key="tour_hot",
        alt="Effective number of negatives against the temperature, from 1 to K.",
        save=HERE,
    )


def _hot_answer() -> str:
    negatives = SCORES.all_negatives
    tau = next(tau for tau in offered() if effective_number(negatives, tau) >= len(negatives) / 2)
    return (
        f"From tau {tau:g} on: {effective_number(negatives, tau):.0f} of {len(negatives)}. As tau → ∞ all weigh the same, 1/K "
        "each, however similar they are, and the loss becomes linear in the scores."
    )


def _volume(theme: Theme) -> None:
    tau = tau_slider("tour_volume_tau", 1.0, low=0.005, high=50.0)
    show(
        gradient_size(SCORES, tau, theme),
        key="tour_volume",
        alt="Pull on the positive against the temperature, beside the line 1 over tau.",
        save=HERE,
    )


def _volume_answer() -> str:
    one, two = (-gradient(SCORES.positive, SCORES.all_negatives, tau).positive for tau in (1.0, 2.0))
    return (
        f"From {one:.3f} to {two:.3f}, a factor of {two / one:.2f}: the shares hardly change there, but every gradient carries "
        "1/tau. So tau also acts like a learning rate."
    )


def _false(theme: Theme) -> None:
    tau = tau_slider("tour_false_tau", 0.1, low=0.02, high=2.0)
    z, labels = made_up()
    show(
        hard_and_false(z, labels, ANCHOR, tau, theme, top=TOP),
        key="tour_false",
        alt="Share of the push on each negative of one anchor against its similarity; negatives of its own class are diamonds.",
        save=HERE,
    )


def _false_answer() -> str:
    z, labels = made_up()
    others = np.flatnonzero(np.arange(len(z)) != ANCHOR)
    scores = unit_rows(z)[others] @ unit_rows(z)[ANCHOR]
    hard = others[np.argsort(-scores, kind="stable")[: round(TOP * len(others))]]
    count = int((labels[hard] == labels[ANCHOR]).sum())
    return (
        f"{count} of {len(hard)}. They are of the anchor's own class, so pushing them away breaks the class apart. Hard means "
        "similar, false means wrongly called negative; a small tau pushes hardest where the two overlap."
    )


def _circle(theme: Theme) -> None:
    tau = tau_slider("tour_circle_tau", 0.1, low=0.03, high=5.0)
    angles = np.deg2rad(ARRANGEMENTS["Two groups"])
    show(
        circle_forces(angles, 0, tau, theme),
        key="tour_circle",
        alt="Points on a circle with arrows: the forces of the loss of anchor A.",
        save=HERE,
    )


def _circle_answer() -> str:
    return (
        "The whole group at the lower left, and C′ at the far end of A's own group: they are far away, so their "
        "exponentials vanish beside those of B and B′. Raise tau to 5 and most of them move too. A small tau spreads "
        "neighbours apart, a large one spreads groups apart."
    )


def _relatives(theme: Theme) -> None:
    shift = st.slider("Add to every logit", -5.0, 5.0, 0.0, 0.5, key="tour_shift")
    show(
        three_losses(read(np.array([0.8, 0.6, 0.2, -0.3]), 0.5, shift=shift), theme),
        key="tour_relatives",
        alt="Gradients of the same scores under cross entropy over classes, NCE and InfoNCE.",
        save=HERE,
    )


def _relatives_answer() -> str:
    before, after = (read(np.array([0.8, 0.6, 0.2, -0.3]), 0.5, shift=shift) for shift in (0.0, 3.0))
    return (
        f"NCE: its loss goes from {before.nce.loss:.2f} to {after.nce.loss:.2f}. The two softmax losses stay at "
        f"{after.info_nce.loss:.2f} and {after.classes.loss:.2f}, and equal each other: InfoNCE is cross entropy whose answer "
        "is always index 0. Because NCE sees the scale of a score it can learn a density; InfoNCE learns a ratio."
    )


def _bound(theme: Theme) -> None:
    rho = st.select_slider("Correlation of the two views", (0.5, 0.7, 0.9), RHO, key="tour_rho")
    bounds, truths = information_table.bounds(rho)
    show(
        information_bound(bounds, truths, SIZES, rho, theme),
        key="tour_bound",
        alt="log N minus loss against the number of candidates for three dimensions; every line stays below log N.",
        save=HERE,
    )


def _bound_answer() -> str:
    bounds, truths = information_table.bounds(RHO)
    truth, most = truths[SHARED_DIM], SIZES[-1]
    return (
        f"{bounds[SHARED_DIM][-1].estimate:.1f} of {truth:.1f} nats. The grey line stops it: log N − L can never exceed "
        f"log N, here log {most:,} = {math.log(most):.2f}, and N counts the positive. At least e to the {truth:.2f}, "
        f"{math.ceil(math.exp(truth)):,} candidates, are needed. Here is one reason why MoCo keeps a long queue of negatives. It "
        "is not the only one, and more is not always better: see the queue study."
    )


STEPS = (
    Step(
        "A question with K + 1 choices",
        "Contrastive learning asks each image: which of these is your other view? Here all candidates look the same to the "
        "encoder.",
        _choice,
        "With seven negatives, how many choices are there, and what does guessing cost?",
        _choice_answer,
        INFONCE,
        "Reference lines",
    ),
    Step(
        "Turn the temperature down",
        "The scores stay as they are; tau divides them before the softmax. Move it to the left and watch the gradient at the "
        "right: its orange bars are the push on the negatives.",
        _cold,
        "Going down, at which tau does the hardest negative first take more than nine tenths of the push?",
        _cold_answer,
        TEMPERATURE,
        "One anchor",
    ),
    Step(
        "Turn the temperature up",
        "How many negatives share the push? The curve counts them: the exponential of the entropy of their shares, which is 1 "
        "when one negative takes all, and K when all take the same.",
        _hot,
        "From which tau on do at least half of the negatives do the work?",
        _hot_answer,
        TEMPERATURE,
        "Penalty curve",
    ),
    Step(
        "The temperature is also a volume knob",
        "The pull on the positive is (1 − P⁺)/tau, where P⁺ is its probability. The grey line is 1/tau alone.",
        _volume,
        "Move tau from 1 to 2. What happens to the pull?",
        _volume_answer,
        TEMPERATURE,
        "One anchor",
    ),
    Step(
        "Hard is not false",
        "Ten made-up classes on a sphere, one anchor. Diamonds are negatives of its own class; the shaded band holds the "
        "hardest twenty.",
        _false,
        "How many of the hardest twenty are diamonds, and should they be pushed away?",
        _false_answer,
        TEMPERATURE,
        "Hard and false",
    ),
    Step(
        "Forces on a circle",
        "Twelve points, two views each of six images. Arrows show where the loss of anchor A moves them.",
        _circle,
        "Which points have no arrow at tau 0.1, and why?",
        _circle_answer,
        TEMPERATURE,
        "Circle",
    ),
    Step(
        "The same scores, three losses",
        "Cross entropy over classes, NCE and InfoNCE read the same four logits, which are scores divided by tau. Green is pulled "
        "up, orange pushed down.",
        _relatives,
        "Add 3 to every logit. Which of the three losses notices?",
        _relatives_answer,
        INFONCE,
        "Three losses",
    ),
    Step(
        "What the loss cannot tell",
        "The points are log N minus the loss, a lower bound on the information that two views share. Here the truth is known: "
        "the dotted lines.",
        _bound,
        f"With {SIZES[-1]:,} candidates, how much of the {SHARED_DIM}-dimensional truth is reported, and which line stops it?",
        _bound_answer,
        INFONCE,
        "Information bound",
    ),
)
