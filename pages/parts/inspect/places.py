"""Where inspections and uploads lie, and which inspection the address names."""

from typing import NamedTuple

import streamlit as st

from core.checkpoints.uploads import UploadStore
from core.figures.metrics import DATASET_NAMES
from core.inspections import samples
from core.inspections.spec import InspectionSpec
from core.inspections.state import InspectionState
from core.inspections.store import Inspection, InspectionError, InspectionStore
from pages.parts import address, studies
from pages.parts.text import literal, quoted

PROBLEM = "inspect_problem"
OPENING = "open"  # in the address while a checkpoint is being chosen


class Found(NamedTuple):
    """One inspection that can be shown."""

    id: str
    spec: InspectionSpec
    state: InspectionState
    store: InspectionStore
    shipped: bool

    @property
    def label(self) -> str:
        """In the selector."""
        if self.shipped:
            return f"Sample: {self.spec.name}"
        data = DATASET_NAMES[self.spec.dataset]  # the short name: the selector is narrow, and the number of images comes last
        mark = "" if self.state.status == "finished" else f" ({self.state.status})"
        return f"{self.spec.name} on {data}, {self.spec.n_test:,} images{mark}"


def own() -> InspectionStore:
    """The visitor's inspections."""
    return InspectionStore(studies.runs().root / "inspections")


def uploads() -> UploadStore:
    """Uploaded checkpoints; the limit is that of the server's uploads."""
    return UploadStore(studies.runs().root / "uploads", limit=int(st.get_option("server.maxUploadSize")) * 2**20)


def everything() -> list[Found]:
    """All inspections: the shipped samples in their order, then the visitor's own, latest first."""
    order = [sample.title for sample in samples.SAMPLES]
    places = ((samples.inspections(), True), (own(), False))
    found = [Found(listed.id, listed.spec, listed.state, store, shipped) for store, shipped in places for listed in store.list()]
    return sorted(
        found, key=lambda entry: order.index(entry.spec.name) if entry.shipped and entry.spec.name in order else len(order)
    )


def load(entry: Found) -> Inspection | None:
    """A finished inspection, read once for all sessions; the last few stay in memory, as a large one has many megabytes."""
    return result(entry.store, entry.id)


def result(store: InspectionStore, inspection_id: str) -> Inspection | None:
    """What a store holds of an inspection; None if there is no result, or its files are damaged."""
    return _load(str(store.root), inspection_id, store.stamp(inspection_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def _load(root: str, inspection_id: str, stamp: str) -> Inspection | None:
    return InspectionStore(root).load(inspection_id)


def choose(found: list[Found]) -> Found | None:
    """The inspection that the address names, else the first one; None where there is none."""
    wanted = address.recall("inspection")
    by_id = {entry.id: entry for entry in found}
    if wanted and wanted != OPENING and wanted not in by_id:
        address.notice(f"The address names the inspection {quoted(wanted)}, which is not on this machine.")
        address.forget("inspection")
        wanted = None
    return by_id.get(wanted) or next(iter(found), None)


def opening() -> bool:
    """Whether a checkpoint is being chosen."""
    return address.recall("inspection") == OPENING


def show_problem() -> None:
    """What went wrong in a callback, once."""
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(literal(problem), icon=":material/error:")


def delete(entry: Found) -> None:
    """Move an inspection to the trash. For widget callbacks."""
    try:
        token = entry.store.delete(entry.id)
    except InspectionError as error:
        st.session_state[PROBLEM] = str(error)
        return
    st.session_state["inspect_deleted"] = (token, entry.spec.name)
    address.forget("inspection")


def offer_undo() -> None:
    """Bring back what was deleted last."""
    if deleted := st.session_state.get("inspect_deleted"):
        token, name = deleted
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/delete: The inspection of {literal(name)} was deleted.")
            st.button("Undo", key="ins_undo", icon=":material/undo:", on_click=_undo, args=(token,))


def _undo(token: str) -> None:
    st.session_state.pop("inspect_deleted", None)
    try:
        address.remember("inspection", own().undo(token))
    except InspectionError as error:
        st.session_state[PROBLEM] = str(error)
