"""The losses that can be watched: what each is called, which dials it has, and how its parts are named."""

from typing import NamedTuple

from core.figures.theme import OBJECTIVE_NAMES
from core.training.spec import USES_LAM, USES_TAU


class Preset(NamedTuple):
    """One loss of the family."""

    objective: str
    distribution: str  # name of its distribution term, for axes
    formula: str  # LaTeX of the whole
    tau: float = 0.5  # default of the slider
    lam: float = 1.0

    @property
    def name(self) -> str:
        """As on every page."""
        return OBJECTIVE_NAMES[self.objective]

    @property
    def has_tau(self) -> bool:
        """Whether the temperature does anything."""
        return self.objective in USES_TAU

    @property
    def has_lam(self) -> bool:
        """Whether the weight does anything."""
        return self.objective in USES_LAM

    @property
    def has_push(self) -> bool:
        """Whether a distribution term is part of the loss; its value is shown either way."""
        return self.objective != "alignment"


GCL = (
    r"\underbrace{\tfrac1n\sum(1 - \cos)}_{\text{alignment}} + "
    r"\lambda \underbrace{\operatorname{mean}_i \log\sum_{k\neq i} e^{s_{ik}/\tau}}_{\text{log-sum-exp}}"
)
SWD = (
    r"\underbrace{\operatorname{mean}\,(a - b)^2}_{\text{alignment}} + "
    r"\lambda \underbrace{\mathrm{SWD}\bigl(z, %s\bigr)}_{\text{distance to the prior}}"
)
UNIFORM = r"\log \mathbb{E}\, e^{-2\lVert x - y\rVert^2}"

PRESETS = {
    preset.name: preset
    for preset in (
        Preset("nt_xent", "Log-sum-exp", r"\tfrac1\tau(\text{alignment} - 1) + \text{log-sum-exp}", tau=0.2),
        Preset("gcl", "Log-sum-exp", GCL, tau=0.5, lam=0.5),
        Preset("swd_hypersphere", "Distance to prior", SWD % r"\text{uniform on the sphere}", lam=10.0),
        Preset("swd_hypercube", "Distance to prior", SWD % r"U(-1, 1)^d", lam=10.0),
        Preset("swd_normal", "Distance to prior", SWD % r"N(0, 1)", lam=10.0),
        Preset("align_uniform", "Uniformity", rf"\mathbb{{E}}\lVert a - b\rVert^2 + \lambda\, {UNIFORM}"),
        Preset("alignment", "Uniformity", r"\tfrac1n\sum(1 - \cos)"),
        Preset("uniformity", "Uniformity", UNIFORM),
    )
}
