"""The distribution that a loss reached, for each depth of the head, beside a prior."""

import pandas as pd
import streamlit as st

from core.figures.prior_reached import Shown, prior_reached
from core.figures.theme import OBJECTIVE_NAMES
from core.geometry.priors import PRIOR_OF, Prior, Reached, reached, sample_distance
from core.glossary import help_text
from core.studies.catalogue import Entry
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept, version
from pages.parts.save import of_runs

PRIORS: dict[str, Prior] = {"Hypersphere": "hypersphere", "Hypercube": "hypercube", "Normal": "normal"}
OWN = "its own"


@st.fragment
def distribution(entry: Entry, runs: pd.DataFrame) -> None:
    """Choose loss, length of training and prior; three panels and a table of distances.

    Args:
        entry: The study.
        runs: Those of its runs that the page shows, one weight a loss.
    """
    shown_runs = runs[runs["status"] == "finished"]
    losses = [loss for loss in OBJECTIVE_NAMES if loss in set(shown_runs["objective"])]
    if not losses:
        return
    st.subheader("Is the prior reached?", help=help_text("swd", "hypersphere"))
    names = {OBJECTIVE_NAMES[loss]: loss for loss in losses}
    clicked = runs[runs["run_id"] == address.recall("run")]
    default = OBJECTIVE_NAMES[clicked["objective"].iloc[0]] if len(clicked) else OBJECTIVE_NAMES[losses[-1]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.session_state.get("pri_followed") != address.recall("run"):  # a click on a dot chooses its loss, once
            st.session_state["pri_followed"] = address.recall("run")
            st.session_state["pri_loss"] = default
        address.check("pri_loss", list(names), default)
        loss = names[st.selectbox("Loss", list(names), key="pri_loss", bind="query-params", width=220)]
        lengths = sorted(int(epochs) for epochs in shown_runs["epochs"].unique())
        epochs = st.segmented_control(
            "Epochs", lengths, default=lengths[-1], required=True, key="pri_epochs", bind="query-params"
        )
        beside = st.segmented_control(
            "Compared with",
            [OWN, *PRIORS],
            default=OWN,
            required=True,
            key="pri_prior",
            bind="query-params",
            help="NT-Xent and GCL have no prior by name; their log-sum-exp is least for points uniform on the hypersphere.",
        )
    prior = PRIORS.get(beside) or PRIOR_OF.get(loss, "hypersphere")
    chosen = shown_runs[(shown_runs["objective"] == loss) & (shown_runs["epochs"] == epochs)].sort_values(["head_layers", "seed"])
    found = _stored(entry, chosen, prior)
    if not found:
        st.info(
            "No embedding is stored for these runs. Shipped results keep those of the first seed.", icon=":material/scatter_plot:"
        )
        return
    dim = int(chosen["head_dim"].iloc[0])
    rows = found[0][1].rows
    perfect = sample_distance(prior, rows, dim)
    shown = [Shown(f"{depth} layer{'s' if depth > 1 else ''}", here) for depth, here in found]
    theme, title, subtitle = current_theme(), _title(found, perfect, prior), _subtitle(loss, epochs, rows, dim)
    show(
        kept(
            lambda: prior_reached(shown, prior, dim, theme, title=title, subtitle=subtitle),
            "prior reached",
            version(entry),
            prior,
            subtitle,
            " ".join(chosen["run_id"]),
            theme.name,
        ),
        key="pri_reached",
        alt="Densities of norms, coordinates and angles of the embedding for each depth of the head, with the prior in grey.",
        save=of_runs(entry, chosen),
    )
    st.table(
        {
            "Head": [run.name for run in shown] + [f"a fresh sample of the {prior} prior"],
            "Distance of a coordinate": [f"{run.reached.distance:.3f} sd" for run in shown] + [f"{perfect:.3f} sd"],
            "Mean norm": [f"{run.reached.mean_norm:#.3g}" for run in shown] + [_prior_norm(prior, dim)],
        },
        border="horizontal",
        hide_index=True,
        width="content",
    )
    st.caption(
        "Test images without augmentation, first stored seed of each depth. Distance: Wasserstein-1 between a coordinate of "
        "z and the prior's, mean over dimensions, in the prior's standard deviations; the last row is what an exact match "
        "shows with as many images. Hypersphere: rows are normalised first; the others compare z as it leaves the head. "
        "Grey, dashed: the prior."
    )


def _stored(entry: Entry, runs: pd.DataFrame, prior: Prior) -> list[tuple[int, Reached]]:
    """Depth and summary of the first seed of each depth that has its embedding kept."""
    found = []
    for depth, same in runs.groupby("head_layers"):
        for run_id in same["run_id"]:
            here = _summary(entry.store.root.as_posix(), entry.name, run_id, prior, entry)
            if here is not None:
                found.append((int(depth), here))
                break
    return found


@st.cache_data(max_entries=256, show_spinner=False)
def _summary(root: str, study: str, run_id: str, prior: Prior, _entry: Entry) -> Reached | None:
    """A finished run does not change, so its summary is keyed by where it lies."""
    arrays = _entry.store.embedding(study, run_id)
    if arrays is None:
        return None
    try:
        return reached(arrays["z"], arrays.get("norms"), prior)
    except ValueError:
        return None


def _title(found: list[tuple[int, Reached]], perfect: float, prior: Prior) -> str:
    best_depth, best = min(found, key=lambda pair: pair[1].distance)
    ratio = best.distance / perfect
    layers = f"{best_depth} layer{'s' if best_depth > 1 else ''}"
    if ratio < 1.5:
        return f"With {layers} the coordinates look like those of the {prior} prior"
    return f"Closest with {layers}: {ratio:.0f} times as far from the prior as a fresh sample"


def _subtitle(loss: str, epochs: int, rows: int, dim: int) -> str:
    return f"{OBJECTIVE_NAMES[loss]}, {epochs} epochs, {rows:,} test images, d = {dim} · band: middle 80% of the dimensions"


def _prior_norm(prior: Prior, dim: int) -> str:
    if prior == "hypersphere":
        return "free, rows are normalised"
    return f"about {(dim / 3) ** 0.5 if prior == 'hypercube' else dim**0.5:.3g}"
