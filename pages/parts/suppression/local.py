"""Local features: which parts of an image encoders treat alike, beside raw pixels; works on any checkpoint."""

from pathlib import Path

import streamlit as st

from core import analysis
from core.figures.metrics import applies, short_setting
from core.figures.part_masks import part_masks
from core.inspections import samples
from core.inspections.local import DIGITS, LocalFeatures
from pages.parts import studies
from pages.parts.chart import current_theme, show
from pages.parts.inspect.places import uploads
from pages.parts.kept import kept
from pages.parts.save import HERE
from pages.parts.text import literal

MOST_ENCODERS = 2  # beside each other
TIMEOUT = 120.0  # seconds; the first call waits for torch
DIALS = ("objective", "tau", "bits", "encoder", "seed")  # that tell runs apart
FOLDER_HELP = (
    "Folders of images, one for each class, as for a study of your own data. Empty: the digits that come with this code."
)
METHOD = (
    "Feature maps of the last layer of each size are scaled to length 1 at every place and grouped by k-means (10 starts), over "
    "the places of 64 test images together; pixels are averaged to the finest map's size and compared as they are. Masks are "
    "enlarged without smoothing. After Chen, Luo, Li 2021, *Intriguing Properties of Contrastive Losses*, which finds object "
    "parts for contrastive and supervised encoders, not for pixels. What is seen here is a picture, not a measurement."
)


def local() -> None:
    """Draw the tab."""
    st.markdown(
        "Inside an encoder every place of an image is a vector. Places with similar vectors get one colour. "
        "**Do the groups follow parts of objects, or only light and dark?** Raw pixels stand beside them."
    )
    there = checkpoints()
    if not there:
        st.info(
            "No checkpoint is on this machine. Runs that you start here leave one, and the page Inspect takes uploads.",
            icon=":material/inventory_2:",
        )
        return
    chosen = st.multiselect(  # a row of its own: beside others, two names do not fit at 1024 px
        "Encoders", list(there), default=list(there)[:MOST_ENCODERS], max_selections=MOST_ENCODERS, key="loc_encoders",
        help="Samples, uploads, and runs that have left a checkpoint. A run with labels shows what supervision adds.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        folder = st.text_input("Images", key="loc_folder", placeholder="digits", help=FOLDER_HELP, width=220)
        k = st.slider("Groups", 2, 8, 4, key="loc_k", bind="query-params", width=200)
    data = folder.strip() or DIGITS
    sources = [(name, str(there[name])) for name in chosen]
    try:
        with st.spinner("Grouping the places", show_time=True):
            stamps = [f"{path}:{Path(path).stat().st_mtime_ns}" for _, path in sources]
            found = kept(lambda: _fetch(sources, data, k), "local", data, k, *stamps)
    except (ValueError, OSError, analysis.AnalysisError) as error:
        st.error(f"The groups cannot be shown: {literal(str(error).removeprefix('data_root: '))}", icon=":material/error:")
        return
    theme = current_theme()
    about = (
        f"{'MNIST-5k' if data == DIGITS else Path(data).name}, {k} groups (k-means over 64 images), one colour each per column"
    )
    figure = kept(
        lambda: part_masks(found, theme, title="What the encoder treats alike", subtitle=about),
        "masks",
        theme.name,
        data,
        k,
        *stamps,
    )
    alt = "Groups of similar places laid over images, for raw pixels and each stage of the encoders."
    show(figure, key="loc_masks", alt=alt, save=HERE)
    for note in found.notes:
        st.caption(f":material/info: {literal(note)}")
    with st.expander("Method", icon=":material/science:"):
        st.markdown(METHOD)


def checkpoints() -> dict[str, Path]:
    """Every checkpoint that can be opened here: name -> file."""
    found = {sample.title: sample.path.absolute() for sample in samples.present()}
    for upload in uploads().all():
        twice = f"{upload.name} ({upload.sha256[:6]})"  # two files of one name
        found[twice if upload.name in found else upload.name] = upload.path
    for entry in studies.entries(lambda entry: entry.origin == "runs"):
        for row in studies.table(entry).itertuples():
            path = entry.store.checkpoint(entry.name, row.run_id)
            if path is not None:
                found[f"{_settings(row)} · {entry.title}"] = path.absolute()
    return found


def _settings(run) -> str:
    """What tells a run apart, before the name of its study: over the columns of a chart only the beginning is read."""
    return ", ".join(short_setting(field, getattr(run, field)) for field in DIALS if applies(field, run.objective))


def _fetch(sources: list[tuple[str, str]], data: str, k: int) -> LocalFeatures:
    return analysis.call("core.inspections.local:local_features", checkpoints=sources, data=data, k=k, timeout=TIMEOUT)
