"""View: whole encoders trained at different temperatures, ours beside Wang & Liu's table and SimCLR's."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core import provenance, published
from core.figures.contrastive_accuracy import contrastive_accuracy
from core.figures.dimensions_in_use import SHOWN, dimensions_in_use, more_uniform_with_fewer
from core.figures.lines import Progress
from core.figures.series import describe
from core.figures.temperature_metrics import temperature_metrics, within_spread
from core.figures.text import signed
from core.figures.uniformity_tolerance import uniformity_tolerance
from core.geometry.closed_forms import uniform_optimum
from core.studies.catalogue import Entry
from pages.parts import address, studies
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept, version
from pages.parts.save import HERE, Save, of_runs
from pages.parts.slip import slip
from pages.parts.study_state import watch

STUDY = "temperature-mnist-5k"
PUBLISHED = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100", "SVHN": "svhn", "ImageNet-100": "imagenet-100", "none": None}
SOURCES = ("wang_liu_2021", "simclr_2020_table5")
THEIR_DIM = 128  # of the embedding in Wang & Liu's runs


def across_runs() -> None:
    """Choose the study, say how it is doing, draw it."""
    found = studies.entries(lambda entry: entry.varies("tau") and not entry.varies("bits") and not entry.varies("lam"))
    found.sort(key=lambda entry: entry.name != STUDY)
    entry = studies.choose(
        found, "tmp_study", help="Any study that varies the temperature; the shipped one was measured by this code."
    )
    address.show_notices()
    watch(entry, "tmp")
    _charts(entry)


@st.fragment
def _charts(entry: Entry) -> None:
    """Accuracy, uniformity and tolerance against tau; the trade-off as a path; the published evidence against low losses."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Beside it: Wang & Liu 2021, Table 1",
            list(PUBLISHED),
            default="CIFAR-10",
            required=True,
            key="tmp_published",
            bind="query-params",
            persist_state="session",
        )
        zoom = st.toggle("Zoom to data", key="tmp_zoom", bind="query-params", help="The accuracy axis shows 0 to 1 otherwise.")
    table = studies.table(entry)
    runs = table[table["objective"] == "nt_xent"] if len(table) else table
    theirs = _published(PUBLISHED[name], name)
    if runs.empty and theirs.empty:
        return
    finished = runs[runs["status"] == "finished"] if len(runs) else runs
    dim = int(runs["head_dim"].iloc[0]) if len(runs) else THEIR_DIM
    theme, stamp = current_theme(), f"{version(entry)} {len(table)}"
    drawing = dict(
        published=theirs, optimum=uniform_optimum(dim), subtitle=describe(finished, "mean ± sd") if len(finished) else ""
    )
    progress = Progress(len(table[table["status"] == "finished"]), studies.planned(entry)) if len(table) else None

    ours = of_runs(entry, finished) if len(finished) else HERE

    def metrics() -> go.Figure:
        return temperature_metrics(runs, theme, baseline=_untrained(table), progress=progress, zoom=zoom, **drawing)

    def dimensions() -> go.Figure:
        return dimensions_in_use(table, dim, theme, subtitle=describe(finished, "mean") if len(finished) else "")

    def simclr() -> go.Figure:
        rows = _rows("imagenet")
        return contrastive_accuracy(rows[rows["source"] == "simclr_2020_table5"], theme)

    show(
        kept(metrics, "tmp_metrics", stamp, *(progress or ()), name, zoom, theme.name),
        key="tmp_metrics",
        alt="Linear accuracy, uniformity and tolerance of trained encoders against the temperature, ours and published.",
        save=ours,
    )
    left_and_right = st.grid(2, min_column_width=440)
    with left_and_right.cell():
        show(
            kept(lambda: uniformity_tolerance(runs, theme, **drawing), "tmp_plane", stamp, name, theme.name),
            key="tmp_plane",
            alt="Path of the temperatures through the plane of uniformity and tolerance, ours and published.",
            save=ours,
        )
    with left_and_right.cell():
        show(
            kept(simclr, "tmp_simclr", theme.name),
            key="tmp_simclr",
            alt=(
                "SimCLR Table 5: linear accuracy against contrastive accuracy; the highest contrastive accuracy has the worst "
                "features."
            ),
            save=Save(provenance=f"Published: {published.sources()['simclr_2020_table5'].citation}"),
        )
    show(
        kept(dimensions, "tmp_dimensions", stamp, theme.name),
        key="tmp_dimensions",
        alt="Uniformity against the number of dimensions in use: a curve that flattens early, and our encoders.",
        save=ours,
    )
    if len(finished):
        line = provenance.line(table[table["status"] == "finished"], entry.name)
        footer(
            line,
            name=entry.name,
            key="tmp_footer",
            data=lambda: runs,
            settings=entry.definition.to_toml if entry.definition else None,
        )
    slip("lower_is_better", "in SimCLR's Table 5, contrastive accuracy 92.1% goes with the worst features, 57.0%.")
    corrected = kept(lambda: f"{_most_uniform(finished, theirs)} {_few_dimensions(table, dim)}", "tmp_uniform", stamp, name)
    slip("uniform_is_good", corrected)
    with st.expander("Where the published numbers come from"):
        for source in (source for source in published.sources().values() if source.name in SOURCES):
            st.markdown(f"**{source.label}**: [{source.citation}]({source.url}), {source.source}. {source.note}")


@st.cache_data(max_entries=8, show_spinner=False)
def _rows(dataset: str) -> pd.DataFrame:
    """Published values on one data set; the files are read once."""
    return published.rows(dataset=dataset)


def _published(dataset: str | None, title: str) -> pd.DataFrame:
    """Wang & Liu's contrastive loss and its limit, the simple loss, on one data set."""
    rows = _rows(dataset or "none")
    if rows.empty:
        return rows
    rows = rows[(rows["source"] == "wang_liu_2021") & rows["setting"].isin(["contrastive loss", "simple loss"])]
    return rows.assign(label=[f"{label}, {title}" for label in rows["label"]])


def _few_dimensions(table: pd.DataFrame, dim: int) -> str:
    """What the picture of the dimensions in use shows."""
    few = max(2, dim // SHOWN)
    said = (
        f"Spread evenly over {few} of {dim} dimensions, points have {signed(uniform_optimum(few))} instead of "
        f"{signed(uniform_optimum(dim))}"
    )
    pair = more_uniform_with_fewer(table)
    return f"{said}; {pair}." if pair else f"{said}."


def _untrained(table: pd.DataFrame) -> float | None:
    rows = table[(table["objective"] == "untrained") & (table["status"] == "finished")] if len(table) else table
    return float(rows["linear_accuracy"].mean()) if len(rows) else None


def more_uniform_less_accurate(runs: pd.DataFrame, means: pd.DataFrame) -> str:
    """The two temperatures of which the more uniform one loses most accuracy, beyond their spread; empty if there are none."""
    spread = runs.groupby("tau")["linear_accuracy"].std()
    pairs = [
        (poor, good)
        for poor in means.itertuples()
        for good in means.itertuples()
        if poor.uniformity < good.uniformity
        and good.linear_accuracy - poor.linear_accuracy > np.nanmax([spread[poor.Index], spread[good.Index], 0.0])
    ]
    if not pairs:
        return ""
    poor, good = max(pairs, key=lambda pair: pair[1].linear_accuracy - pair[0].linear_accuracy)
    return (
        f" But tau {poor.Index:g} is more uniform than tau {good.Index:g} ({signed(poor.uniformity)} against "
        f"{signed(good.uniformity)}) and less accurate, {poor.linear_accuracy:.3f} against {good.linear_accuracy:.3f}."
    )


def _most_uniform(runs: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Accuracy of the most uniform encoder against the best one, ours or published."""
    done = runs.groupby("tau")[["linear_accuracy", "uniformity"]].mean().dropna() if len(runs) else runs
    if len(done) > 1:
        flat, best = done.loc[done["uniformity"].idxmin()], done.loc[done["linear_accuracy"].idxmax()]
        peak = (
            f"our most uniform encoder (tau {flat.name:g}, {signed(flat['uniformity'])}) reaches {flat['linear_accuracy']:.3f}, "
            f"the most accurate one (tau {best.name:g}) {best['linear_accuracy']:.3f} at uniformity {signed(best['uniformity'])}"
        )
        if not within_spread(runs, best.name, flat.name):
            return f"{peak}."
        return f"{peak}: no more apart than seeds are.{more_uniform_less_accurate(runs, done)}"
    if theirs.empty:
        return "pick one of the published tables above."
    wide = theirs.pivot_table(index="tau", columns="metric", values="value")
    flat, best = wide.loc[wide["uniformity"].idxmin()], wide.loc[wide["linear_accuracy"].idxmax()]
    return (
        f"in the published table the most uniform encoder (tau {flat.name:g}) reaches {flat['linear_accuracy']:.1%}, the most "
        f"accurate one (tau {best.name:g}) {best['linear_accuracy']:.1%}."
    )
