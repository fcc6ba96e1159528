"""Your own data: point at an image folder, add bits, and see how much of your classes an encoder still learns."""

import math
from collections import Counter

import pandas as pd
import streamlit as st

from core import analysis
from core.datasets.dataset import DataError
from core.datasets.folder import Listing, list_folder
from core.datasets.sources import raw_folders
from core.durations import spoken
from core.studies import StudyError
from core.studies.catalogue import Entry
from core.studies.own import BITS, SIDES, OwnImages, is_own, own_study
from core.studies.study import StudySpec
from pages.parts import address, live, studies
from pages.parts.kept import kept
from pages.parts.suppression.charts import charts
from pages.parts.suppression.claims import claims
from pages.parts.suppression.details import cells_table, method
from pages.parts.suppression.run import run_panel
from pages.parts.suppression.so_far import so_far
from pages.parts.suppression.strip import strip
from pages.parts.text import literal

DIAL = "bits"
STARTED = "sup_own_started"  # the definition that was started last
PACE_TIMEOUT = 90.0  # seconds; it decodes the folder on the way
FEW_IN_CLASS = 10  # training images; a class of fewer is pointed out
FEW_TESTED = 400  # test images, below which an accuracy is known to no better than 0.05
FOLDER_HELP = (
    "One folder for each class with its images inside, or train/ and test/ with such folders. Sizes and formats may differ. "
    "Without test images a fifth of every class is kept for testing. A relative path starts at CONTRASTIVE_LENS_DATA. "
    "The folder lies on the machine that runs this dashboard; nothing is copied or sent."
)


def own() -> None:
    """Draw the tab: a form for a new study, then the studies that were started from it."""
    st.markdown(
        "Both views of each of your images get the same random bits as further channels, an easy feature of known size. "
        "**How few bits make an encoder forget your classes?** If few do, an easy feature of your own data can do the same."
    )
    known = studies.entries(lambda entry: is_own(entry.name) and entry.varies(DIAL))
    with st.expander("A new study", icon=":material/create_new_folder:", expanded=not known):
        _form()
    just_started = _just_started(known)
    if not known and just_started is None:
        live.show_problem()
        return
    if just_started is not None:
        so_far(just_started, live.watch(just_started, "sup"), DIAL, "sup")
        return
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        entry = studies.choose(known, "sup_study", help="Studies of your own folders, started here.")
    runs = studies.table(entry)
    address.show_notices()
    state = live.watch(entry, "sup")
    if (runs["status"] == "finished").any():
        charts(entry, runs, state, DIAL, controls)
        _how_sure(runs)
        run_panel(entry, runs, DIAL)
        claims(entry, runs, DIAL)
        strip(entry, DIAL)
        cells_table(entry, runs, "linear_accuracy", DIAL)
        method(entry, runs)
    else:
        so_far(entry, state, DIAL, "sup")


def _how_sure(runs: pd.DataFrame) -> None:
    """How far a few test images may lead, and what was left out of the folder."""
    finished = runs[runs["status"] == "finished"]
    tested = int(pd.to_numeric(finished["n_test"], errors="coerce").max())
    if 0 < tested < FEW_TESTED:
        off = 1 / math.sqrt(tested)  # two standard errors of an accuracy of a half
        st.caption(f"With {tested} test images an accuracy is known to about ± {off:.2f}, whatever the spread over seeds.")
    for note in dict.fromkeys(note for notes in finished["notes"] for note in notes or () if "could not be read" in note):
        st.caption(literal(note))


def _just_started(known: list[Entry]) -> Entry | None:
    """The study that was started a moment ago and has written nothing yet."""
    definition = st.session_state.get(STARTED)
    if definition is None or any(entry.name == definition.name for entry in known):
        return None
    if address.recall("study") != f"runs/{definition.name}":
        return None
    return Entry(definition.name, "defined", studies.runs(), definition)


def _start(definition: StudySpec) -> None:
    """For the button."""
    st.session_state[STARTED] = definition
    live.launch(definition)


def _form() -> None:
    text = st.text_input("Image folder", key="sup_folder", placeholder="/data/flowers", help=FOLDER_HELP)
    if not text.strip():
        st.caption("Name a folder with a few hundred images, sorted into one folder for each class.")
        return
    root = raw_folders(text.strip())[0]
    try:
        listing = list_folder(root)
    except DataError as error:
        _refuse(error)
        return
    _say(listing)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = st.segmented_control(
            "Image side (px)", SIDES, default=SIDES[0], required=True, key="sup_side", help="Larger takes longer."
        )
        bits = st.segmented_control(
            "Bits up to",
            BITS[2:],
            default=BITS[-1],
            required=True,
            key="sup_most_bits",
            help="The competitor: 2 to the power of bits codes.",
        )
        seeds = st.segmented_control(
            "Seeds",
            (1, 2, 3),
            default=1,
            required=True,
            key="sup_own_seeds",
            help="Two or more give a spread, and claims a verdict.",
        )
    images = OwnImages(root.resolve(), len(listing.classes), len(listing.train), len(listing.test))
    try:
        definition = own_study(images, side, bits, seeds)
    except (StudyError, ValueError) as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        button = st.empty()
        button.button(
            "Start the study",
            key="sup_own_start",
            type="primary",
            icon=":material/play_arrow:",
            on_click=_start,
            args=(definition,),
        )
        slot = st.empty()
    try:
        with slot:
            _estimate(definition)
    except ValueError as error:  # what one step of training refuses, every run of the study would
        button.empty()
        slot.empty()
        _refuse(error)


def _refuse(error: ValueError) -> None:
    """Say why a folder cannot be studied."""
    text = str(error).removeprefix("data_root: ")
    said = text[:1].upper() + text[1:]  # capitalize() would write the path in small letters
    st.error(literal(said), icon=":material/folder_off:")


def _say(listing: Listing) -> None:
    names = ", ".join(listing.classes[:6]) + (f" and {len(listing.classes) - 6} more" if len(listing.classes) > 6 else "")
    train, test = f"{len(listing.train):,} training", f"{len(listing.test):,} test images"
    st.markdown(f"**{len(listing.classes)} classes** ({literal(names)}), **{train}** and **{test}**.")
    counts = Counter(file.label for file in listing.train)
    least = min(counts, key=lambda label: counts[label])
    if counts[least] < FEW_IN_CLASS:
        count = f"{counts[least]} training image{'s' if counts[least] != 1 else ''}"
        st.caption(f"{literal(listing.classes[least])} has {count} only: too few to tell what is learned of this class.")
    for note in listing.notes:
        st.caption(literal(note))


def _estimate(definition: StudySpec) -> None:
    """Time for the whole study, measured with a few training steps on these very images.

    Raises:
        ValueError: If the study cannot be run on them, as where none can be read.
    """
    runs = definition.expand()
    first = next(run for run in runs if run.objective == "nt_xent" and run.bits)
    try:
        with st.spinner("Timing a few training steps on your images", show_time=True):
            training, evaluation = kept(lambda: _pace(first.changed()), "pace", first.run_id)
    except analysis.AnalysisError as error:
        st.caption(f"{len(runs)} runs; the time could not be measured: {literal(str(error))}")
        return
    trained = sum(run.objective != "untrained" for run in runs)
    workers = studies.cores()
    seconds = (trained * training + len(runs) * evaluation) / min(workers, len(runs))
    where = f"{workers} core{'s' if workers != 1 else ''}"
    st.caption(f"{len(runs)} runs, {spoken(seconds)} on {where}, from training steps timed just now. First points come early.")


def _pace(settings: dict) -> tuple[float, float]:
    return analysis.call("core.training.pace:run_seconds", settings=settings, timeout=PACE_TIMEOUT)
