"""Choose a checkpoint: a shipped sample, an upload, a file on this machine, or a run's own. Nothing is opened here."""

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from core.checkpoints.report import CheckpointError
from core.checkpoints.tensors import bytes_text
from core.checkpoints.uploads import Upload
from core.figures.metrics import plain
from core.glossary import help_text
from core.inspections import samples
from core.paths import expanded
from core.studies.catalogue import Entry
from pages.parts import address, studies
from pages.parts.inspect.places import uploads
from pages.parts.text import literal

SOURCES = ("Upload", "File on this machine", "Run of a study", "Sample")
FILE_HELP = (
    "Any PyTorch or safetensors file, of any codebase; its content decides, not its name. It is read in a separate process with "
    "limits on memory and time, and nothing in it is executed."
)
DIALS = ("objective", "tau", "bits", "encoder", "seed")  # that tell runs apart


class Source(NamedTuple):
    """A checkpoint that was chosen."""

    path: Path
    name: str  # as shown
    digest: str | None = None  # of an upload; None: the path is the source


def choose() -> Source | None:
    """Draw the choice.

    Returns:
        The file; None while nothing is chosen.
    """
    address.check("ins_from", list(SOURCES), SOURCES[0])
    address.show_notices()
    kind = st.segmented_control(
        "Where is the checkpoint?",
        SOURCES,
        default=SOURCES[0],
        required=True,
        key="ins_from",
        bind="query-params",
        help=help_text("checkpoint"),
    )
    return {"Upload": _upload, "File on this machine": _path, "Run of a study": _run, "Sample": _sample}[kind]()


def _upload() -> Source | None:
    """Upload a file, or take one that was uploaded before."""
    store = uploads()
    turn = st.session_state.get("ins_turn", 0)
    file = st.file_uploader("Checkpoint file", key=f"ins_upload_{turn}", help=FILE_HELP)
    if file is not None:
        try:
            with st.spinner("Storing the file"):
                upload = store.add(file, file.name)
        except CheckpointError as error:
            st.error(literal(str(error)), icon=":material/error:")
            return None
        except OSError as error:
            st.error(literal(f"The file cannot be stored in {store.root}: {error.strerror or error}."), icon=":material/error:")
            return None
        st.session_state["ins_digest"] = upload.sha256
        st.session_state["ins_turn"] = turn + 1  # a fresh widget lets go of the bytes that the old one holds in memory
        st.rerun()
    there = store.all()
    if not there:
        return None
    by_digest = {upload.sha256: upload for upload in there}
    if st.session_state.get("ins_digest") not in by_digest:
        st.session_state["ins_digest"] = there[0].sha256
    with st.container(horizontal=True, vertical_alignment="bottom"):
        digest = st.selectbox(
            "Uploaded files", list(by_digest), format_func=lambda key: _uploaded(by_digest[key]), key="ins_digest",
            persist_state="session",
        )  # fmt: skip
        st.button(
            "Remove", icon=":material/delete:", type="tertiary", key="ins_remove", on_click=store.remove, args=(digest,),
            help="Deletes the uploaded file from this machine. Inspections of it stay.",
        )  # fmt: skip
    return Source(by_digest[digest].path, by_digest[digest].name, digest)


def _uploaded(upload: Upload) -> str:
    return f"{upload.name} ({bytes_text(upload.bytes)}, {upload.sha256[:8]})"


def _path() -> Source | None:
    """A file by its path."""
    text = st.text_input(
        "Path of the file", key="ins_path", persist_state="session", placeholder="~/runs/moco_v2_800ep_pretrain.pth.tar",
        help=FILE_HELP + " It stays where it is; nothing is copied.",
    )  # fmt: skip
    if not (text or "").strip():
        return None
    path = expanded(text.strip().strip("\"'")).absolute()
    try:
        if path.is_dir():
            st.info(f"{literal(str(path))} is a folder. Name a file in it.", icon=":material/folder:")
            return None
        if not path.is_file():
            st.error(
                f"There is no file {literal(str(path))} on the machine that runs this dashboard.", icon=":material/search_off:"
            )
            return None
    except (OSError, ValueError) as error:  # a name that is too long, or holds a zero byte
        st.error(f"This cannot be a path: {literal(str(error)[:200])}.", icon=":material/search_off:")
        return None
    return Source(path, path.name)


def _run() -> Source | None:
    """The checkpoint that a run has left behind."""
    found = {
        f"{entry.id}/{row.run_id}": (entry, row)
        for entry in studies.entries(lambda entry: entry.origin == "runs")
        for row in studies.table(entry).itertuples()
        if entry.store.checkpoint(entry.name, row.run_id) is not None
    }
    if not found:
        st.info(
            "No run on this machine has left a checkpoint yet. Runs that you start on the pages Feature suppression or Runs do; "
            "shipped results come without.",
            icon=":material/inventory_2:",
        )
        return None
    key = st.selectbox(
        "Run", list(found), format_func=lambda key: _run_label(*found[key]), key="ins_run", persist_state="session"
    )
    entry, row = found[key]
    return Source(entry.store.checkpoint(entry.name, row.run_id).absolute(), f"{row.label or entry.name} {row.run_id}")


def _run_label(entry: Entry, row) -> str:
    settings = ", ".join(f"{dial} {plain(getattr(row, dial))}" for dial in DIALS)
    accuracy = f", linear probe {row.linear_accuracy:.2f}" if row.linear_accuracy == row.linear_accuracy else ""
    return f"{entry.title}: {settings}{accuracy}"


def _sample() -> Source | None:
    """A checkpoint that ships with the code."""
    present = {sample.name: sample for sample in samples.present()}
    if not present:
        st.info("This copy came without the sample checkpoints (data/samples).", icon=":material/inventory_2:")
        return None
    name = st.selectbox(
        "Sample", list(present), format_func=lambda name: present[name].title, key="ins_sample", persist_state="session"
    )
    st.caption(present[name].story)
    return Source(present[name].path.absolute(), present[name].title)
