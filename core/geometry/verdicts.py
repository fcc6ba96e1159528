"""What the uniformity tests of an embedding say, and what each can and cannot see, in words."""

from collections.abc import Mapping
from typing import NamedTuple

from core.geometry.sphere_tests import CosineGap, UniformityTest

COLLAPSED = 0.05  # share of the best possible uniformity below which an embedding counts as a point
LEVEL = 0.01  # p-values below it reject uniformity
SMALL = 0.1  # effects below it are hard to see in a picture


class Verdict(NamedTuple):
    """One test in words."""

    name: str
    effect: str  # its size, from 0 to 1, with what the number is
    said: str  # one sentence
    sees: str
    blind: str


SEES = {
    "rayleigh": (
        "a favoured direction: one cluster, a hemisphere, an offset that all embeddings share",
        "anything symmetric about the centre: two opposite clusters, a great circle, a collapse onto a plane",
    ),
    "bingham": (
        "a favoured axis or subspace: opposite clusters, a great circle, dimensional collapse",
        "clusters at the corners of a regular simplex or cross, and a small shift of the mean",
    ),
    "cosine_gap": (
        "clusters, collapse, and anything else that changes how often points are near each other",
        "which direction is favoured; it has no p-value, because pairs that share a point are not independent",
    ),
}
CAUTION = (
    "All three assume independent points. Images of one class are not, so on many points every test rejects: read the size of "
    "the effect, not the p-value. Uniform is not the same as good, either: an encoder of random noise can pass all of them."
)


def verdicts(
    rayleigh: UniformityTest | Mapping, bingham: UniformityTest | Mapping, gap: CosineGap | Mapping, n: int
) -> list[Verdict]:
    """The three tests in words.

    Args:
        rayleigh: From `core.geometry.rayleigh`, or its fields.
        bingham: From `core.geometry.bingham`, or its fields.
        gap: From `core.geometry.cosine_gap`, or its fields.
        n: Points.
    """
    mean, axes = (_read(test, UniformityTest) for test in (rayleigh, bingham))
    gap = _read(gap, CosineGap)
    by_chance = n**-0.5  # both effects of n uniform points, about: their statistics are then as large as their degrees of freedom
    return [
        Verdict(
            "Rayleigh",
            f"{mean.effect:.3f}, length of the mean vector",
            f"{_outcome(mean)}; {n:,} uniform points show about {by_chance:.3f}.",
            *SEES["rayleigh"],
        ),
        Verdict(
            "Bingham",
            f"{axes.effect:.3f}, departure from equal axes",
            f"{_outcome(axes)}; {n:,} uniform points show about {by_chance:.3f}.",
            *SEES["bingham"],
        ),
        Verdict(
            "Cosine gap",
            f"{gap.gap:.3f}, difference of cumulative shares",
            f"The cosines of all {gap.pairs:,} pairs differ most from the exact law at {gap.at:.2f}.".replace("at -", "at −"),
            *SEES["cosine_gap"],
        ),
    ]


def _outcome(test: UniformityTest) -> str:
    value = "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"
    if test.p_value >= LEVEL:
        return f"Not told apart from uniform points ({value})"
    return f"{'Not uniform' if test.effect >= SMALL else 'Slightly off uniform'} ({value})"


def _read(test, kind: type):
    return kind(**{name: test[name] for name in kind._fields}) if isinstance(test, Mapping) else test
