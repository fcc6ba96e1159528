"""What the encoder saw at each value of the dial, both views; the pictures are made in the analysis process."""

import streamlit as st

from core import analysis
from core.datasets.strips import Strip
from core.figures.dials import DIAL_AXES
from core.figures.metrics import setting_text
from core.figures.strips import strips
from core.provenance import data_name
from core.studies.catalogue import Entry
from core.training.spec import CONTRASTIVE, RunSpec
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.save import HERE
from pages.parts.text import literal

MOST = 9  # columns that fit beside each other
IMAGES = 2
TIMEOUT = 120.0  # seconds; the first pictures wait for torch
LABEL = "What the encoder saw, both views of two images"


def strip(entry: Entry, dial: str, *, folded: bool = True) -> None:
    """Draw the strip of a study; where it is folded, the pictures are made when it is opened.

    Args:
        entry: The study; its definition says what to show, no run is needed.
        dial: RunSpec field along the strip.
        folded: Behind an expander that starts closed.
    """
    runs = positions(entry, dial)
    if not runs:
        return
    box = st.expander(LABEL, icon=":material/visibility:", on_change="rerun", key="sup_strip", expanded=not folded)
    if box.open:
        with box:
            _draw(runs, dial)


def positions(entry: Entry, dial: str) -> list[RunSpec]:
    """One contrastive run for each value of the dial, otherwise alike, by rising value; none where there is no definition."""
    if entry.definition is None:
        return []
    runs = [run for run in entry.definition.expand() if run.objective in CONTRASTIVE]
    alike: dict[str, list[RunSpec]] = {}
    for run in runs:
        alike.setdefault(run.model_copy(update={dial: 0, "seed": 0}).canonical_json(), []).append(run)
    found = max(alike.values(), key=len, default=[])
    values = {getattr(run, dial): run for run in reversed(found)}  # the first seed of each
    line = [values[value] for value in sorted(values)]
    if len(line) <= MOST:
        return line
    return [line[round(place * (len(line) - 1) / (MOST - 1))] for place in range(MOST)]


def _draw(runs: list[RunSpec], dial: str) -> None:
    settings = [run.changed() for run in runs]
    try:
        with st.spinner("Making the pictures", show_time=True):
            shown = kept(lambda: _fetch(settings), "strip", *(run.run_id for run in runs))
    except (ValueError, analysis.AnalysisError) as error:
        st.caption(f"The pictures cannot be shown: {literal(str(error))}")
        return
    theme = current_theme()
    texts = [f"{getattr(run, dial):,.10g}" for run in runs]
    source = setting_text("dataset", data_name(runs[0].dataset, runs[0].data_root))
    about = f"{source}, augmentation: {runs[0].augment}"
    below = ". Squares below each pair: the bits that both views share" if any(bits.shape[1] for bits in shown.bits) else ""

    def make():
        return strips(shown, texts, theme, axis=DIAL_AXES[dial], title="The same images along the dial", subtitle=about + below)

    alt = f"Both augmented views of {IMAGES} images at each value of the dial: {DIAL_AXES[dial].lower()}."
    show(kept(make, "strips", theme.name, dial, *(run.run_id for run in runs)), key="sup_strip_chart", alt=alt, save=HERE)


def _fetch(settings: list[dict]) -> Strip:
    return analysis.call("core.datasets.strips:strip", settings=settings, images=IMAGES, timeout=TIMEOUT)
