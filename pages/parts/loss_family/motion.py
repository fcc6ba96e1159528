"""View: points that move under a loss, with the loss and its parts beside them."""

import streamlit as st

from core import analysis
from core.figures.loss_flow import Part, loss_flow, takeaway
from core.figures.text import signed
from core.glossary import help_text
from core.losses.trajectory import ON_PLANE, Reference, Trajectory, evenly_spread
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.loss_family.presets import PRESETS, Preset
from pages.parts.save import HERE
from pages.parts.slip import slip
from pages.parts.tau_slider import tau_slider

POINTS = 200
TIED = "= tau"  # on the slider of lambda
DIAL_WIDTH = 210
LAMS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 80.0)
PULL, PUSH = "Alignment", "Distribution"
STARTS = {"Cluster": "cluster", "All over": "random", "Nearly collapsed": "collapsed"}
CONVENTIONS = {
    "Self-similarity masked": dict(mask_self=True, convention="standard"),
    "Self-similarity kept": dict(mask_self=False, convention="standard"),
    "Authors' notebook": dict(mask_self=False, convention="notebook"),
}
PLAIN = {"displayModeBar": False}


@st.fragment
def motion() -> None:
    """Dials on top, the moving figure, and its end in numbers."""
    preset, settings = _dials()
    slot = st.container()
    try:
        with slot.skeleton(height=540):
            flow = _flow(**settings)
    except (analysis.AnalysisError, ValueError) as error:
        slot.error(f"The points could not be moved. {error}", icon=":material/error:")
        st.button("Try again", key="fam_again", icon=":material/refresh:")
        return
    reference = _reference(preset, settings)
    with slot:
        theme = current_theme()
        figure = kept(
            lambda: loss_flow(
                flow,
                _parts(preset, flow, reference),
                theme,
                title=takeaway(flow, reference, settings["push"] and preset.has_push),
                subtitle=_subtitle(preset, settings),
            ),
            "loss flow",
            *settings.values(),
            theme.name,
        )
        show(
            figure,
            key="fam_motion",
            config=PLAIN,
            alt="Points moving under the chosen loss, with the loss and its two parts over the frames; press play to start.",
            save=HERE,
        )
    _end(preset, settings, flow, reference)
    if preset.objective in ("gcl", "nt_xent"):
        slip("negatives_follow", f"all {POINTS} points spread, the second views like the first; none of them is only a negative.")
        where = "sphere" if settings["space"] == "sphere" else "circle"
        slip("normal_prior", f"under this loss the points stay on the unit {where}; with the loss “SWD, normal” they leave it.")


def _dials() -> tuple[Preset, dict]:
    """Draw the controls in one row. Returns the preset and the arguments of the flow."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Loss",
            list(PRESETS),
            1,
            key="fam_loss",
            bind="query-params",
            persist_state="session",
            width=220,
            help=help_text("gcl", "nt_xent", "swd"),
        )
        preset = PRESETS[name]
        space = _space(preset)
        tau = lam = None
        if preset.has_tau:
            with st.container(width=DIAL_WIDTH):
                tau = tau_slider("fam_tau", preset.tau, low=0.02, high=5.0)
        if preset.has_lam:
            lam = _weight(preset, tau)
        more = st.popover("More", icon=":material/tune:")
    with more:
        terms = [PULL, PUSH]
        if preset.objective not in ("nt_xent", "alignment", "uniformity"):
            terms = st.pills(
                "Terms that take part",
                [PULL, PUSH],
                selection_mode="multi",
                default=[PULL, PUSH],
                key="fam_terms",
                bind="query-params",
                help="Switch one off to see what the other does alone.",
            )
            if not terms:
                st.caption("Without a term nothing moves; both take part.")
                terms = [PULL, PUSH]
        convention = CONVENTIONS["Self-similarity masked"]
        if preset.objective == "gcl":
            chosen = st.selectbox(
                "Convention", list(CONVENTIONS), key="fam_convention", bind="query-params", persist_state="session"
            )
            convention = CONVENTIONS[chosen]
        start = st.segmented_control(
            "Start", list(STARTS), default="Cluster", required=True, key="fam_start", bind="query-params", persist_state="session"
        )
        seed = st.number_input("Seed", 0, 9999, 0, key="fam_seed", bind="query-params", persist_state="session")
    settings = dict(
        objective=preset.objective,
        tau=tau or preset.tau,
        lam=lam,
        space=space,
        pull=PULL in terms,
        push=PUSH in terms,
        start=STARTS.get(start, "cluster"),
        seed=int(seed),
        **convention,
    )
    return preset, settings


def _space(preset: Preset) -> str:
    if preset.objective in ON_PLANE:
        st.segmented_control(
            "Space", ["Plane"], default="Plane", disabled=True, key="fam_plane", help="Rows of this loss are not normalised."
        )
        return "plane"
    names = {"Circle": "circle", "Sphere": "sphere"}
    chosen = st.segmented_control(
        "Space",
        list(names),
        default="Circle",
        required=True,
        key="fam_space",
        bind="query-params",
        persist_state="session",
        help=help_text("hypersphere"),
    )
    return names.get(chosen, "circle")


def _weight(preset: Preset, tau: float | None) -> float:
    """The lambda slider; for the log-sum-exp its first stop ties it to tau, which is NT-Xent."""
    options = (TIED, *LAMS) if preset.objective == "gcl" else LAMS
    lam = st.select_slider(
        "Weight lambda",
        options,
        TIED if preset.objective == "gcl" else preset.lam,
        format_func=lambda lam: lam if lam == TIED else f"{lam:g}",
        key=f"fam_lam_{preset.objective}",
        bind="query-params",
        persist_state="session",
        width=DIAL_WIDTH,
        help=help_text("lambda"),
    )
    return tau if lam == TIED else lam


@st.cache_data(max_entries=32, show_spinner=False)
def _flow(**settings) -> Trajectory:
    return analysis.call("core.losses.flow:trajectory", points=POINTS, **settings)


def _reference(preset: Preset, settings: dict) -> Reference | None:
    return evenly_spread(
        preset.objective, settings["space"], POINTS // 2, settings["tau"], settings["mask_self"], settings["convention"]
    )


def _parts(preset: Preset, flow: Trajectory, reference: Reference | None) -> list[Part]:
    total = Part("total", "Loss", flow.total)
    pull = Part("alignment", "Alignment", flow.alignment, 0.0, "views equal")
    push = Part("distribution", preset.distribution, flow.distribution)
    if reference is not None:
        push = push._replace(theory=reference.distribution, theory_name="evenly spread")
    return [total, pull, push]


def _subtitle(preset: Preset, settings: dict) -> str:
    dials = [f"tau {settings['tau']:g}"] if preset.has_tau else []
    if preset.has_lam:
        dials.append(f"lambda {settings['lam']:g}")
    drawn = {
        "circle": "● first views, ◆ second views on the inner ring",
        "sphere": "● first views, ◆ second views, smaller behind",
        "plane": "● first views, ◆ second views",
    }
    return " · ".join([preset.name, *dials, f"{POINTS // 2} images, two views each", drawn[settings["space"]]])


def _end(preset: Preset, settings: dict, flow: Trajectory, reference: Reference | None) -> None:
    """The last frame in numbers, beside the closed form where there is one."""
    rows = [
        ("Alignment", flow.alignment[-1], 0.0),
        (preset.distribution, flow.distribution[-1], reference and reference.distribution),
    ]
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.table(
            {
                "At the last frame": [name for name, _, _ in rows],
                "Reached": [signed(value, 5) for _, value, _ in rows],
                "Views equal, evenly spread": ["no closed form" if ideal is None else signed(ideal, 5) for _, _, ideal in rows],
                "Difference": ["" if ideal is None else signed(value - ideal, 2) for _, value, ideal in rows],
            },
            border="horizontal",
            hide_index=True,
        )
    with right:
        st.latex("L = " + preset.formula)
        st.caption(_method(settings, flow))


def _method(settings: dict, flow: Trajectory) -> str:
    """How the points were moved, and what a frame is."""
    rule = (
        "A step follows the mean gradient of four fresh draws of the prior and gets shorter, so that the noise averages out; "
        "the loss of each frame is a fresh draw too."
        if settings["objective"].startswith("swd")
        else "A step follows the gradient and is only taken when the loss falls."
    )
    ended = "Nothing moves any more." if flow.converged else f"{flow.steps} steps were taken."
    return (
        f"The points themselves are trained, without an encoder. {rule} No point moves further than 0.015 in a step; a frame is "
        f"two steps, whose lengths differ, so frames are not time; every fifth is shown, and points glide from one to the next. "
        f"{ended} Computed here, seed {settings['seed']}."
    )
