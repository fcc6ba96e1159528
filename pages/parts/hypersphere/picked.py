"""What was lassoed: its ids in the session, thumbnails, and exactly those rows as a file."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.datasets.dataset import DataSet
from pages.parts import address
from pages.parts.hypersphere.source import Source
from pages.parts.save import csv, download

SHOWN = 48  # thumbnails
PICKED = "sphere_picked"  # in the address
LINKED = 300  # images at most that a link names; longer links break in mail and chat
SIDE = 52  # px


def picked_ids(key: str, source: Source) -> set[int]:
    """Indexes of the test images that are selected in this embedding."""
    there = set(np.asarray(source.arrays["index"]).tolist())
    if f"{key}_picked" not in st.session_state:
        named = (address.recall(PICKED) or "").split(",")
        st.session_state[f"{key}_picked"] = [int(index) for index in named if index.isdecimal() and len(index) < 10]
    return {int(index) for index in st.session_state[f"{key}_picked"] if index in there}


def keep_picked(key: str, source: Source, ids: Sequence[str]) -> None:
    """Keep what a chart reported; an empty report says nothing, since a chart that changes reports one. For callbacks."""
    if ids:
        st.session_state[f"{key}_picked"] = [int(index) for index in ids]
        if len(ids) <= LINKED:
            address.keep(PICKED, f"{key}_picked")
        else:
            address.forget(PICKED)
        st.session_state[f"{key}_turn"] = st.session_state.get(f"{key}_turn", 0) + 1  # a fresh chart has no selection to repeat


def _clear(key: str) -> None:
    st.session_state[f"{key}_picked"] = []
    address.forget(PICKED)
    st.session_state[f"{key}_turn"] = st.session_state.get(f"{key}_turn", 0) + 1


def table(source: Source, picked: set[int]) -> pd.DataFrame:
    """One row per selected image: where it lies in the test split, its class, what the probe says, and its embedding."""
    arrays = source.arrays
    rows = np.flatnonzero(np.isin(arrays["index"], list(picked)))
    labels = np.asarray(arrays["labels"])[rows].astype(int)
    columns = {"index": np.asarray(arrays["index"])[rows], "label": labels}
    if source.classes:
        columns["class"] = [_name(source, label) for label in labels]
    for name in ("predicted", "code"):
        if name in arrays and (name != "code" or source.bits):
            columns[name] = np.asarray(arrays[name])[rows]
    z = np.asarray(arrays["z"])[rows].astype(np.float32)
    if source.dim <= 3:
        columns |= {f"z{place + 1}": z[:, place] for place in range(source.dim)}
    elif "pca" in arrays:
        columns |= {f"pc{place + 1}": np.asarray(arrays["pca"])[rows, place] for place in range(3)}
    return pd.DataFrame(columns)


def show_picked(source: Source, key: str, picked: set[int]) -> None:
    """Thumbnails of the selected images with their classes, and the buttons; nothing while nothing is selected."""
    if not picked:
        return
    chosen = table(source, picked)
    wrong = int((chosen["predicted"] != chosen["label"]).sum()) if "predicted" in chosen else None
    said = "" if wrong is None else f", {wrong:,} of them taken for another class by the linear probe (→)"
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{len(chosen):,} selected test image{'s' if len(chosen) != 1 else ''}**{said}")
            name = f"{source.name.lower().replace(' ', '-')}-selected.csv"
            text = lambda: csv(table(source, picked), source.provenance)  # noqa: E731
            download("These rows, CSV", text, name, "text/csv", f"{key}_rows")
            st.button("Clear", icon=":material/close:", key=f"{key}_clear", on_click=_clear, args=(key,))
        data = source.images() if source.images else "Thumbnails are not available here."
        if isinstance(data, str):
            st.caption(data)
        else:
            _thumbnails(data, source, chosen)
        counts = chosen["label"].value_counts()
        most = ", ".join(f"{_name(source, int(label))}: {count}" for label, count in counts.items())
        st.caption(f"Classes: {most}")


def _thumbnails(data: DataSet, source: Source, chosen: pd.DataFrame) -> None:
    few = chosen[chosen["index"] < len(data.test.images)].head(SHOWN)
    pictures, captions = [], []
    for row in few.itertuples():
        pixels = np.asarray(data.test.images[row.index])
        pictures.append(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
        captions.append(_caption(source, row))
    st.image(pictures, caption=captions, width=SIDE, alt=[f"Test image {index}" for index in few["index"]])
    if len(few) < len(chosen):
        st.caption(f"Showing {len(few)} of {len(chosen):,}.")


def _caption(source: Source, row) -> str:
    """The class, and behind an arrow what the probe takes the image for instead."""
    label, answer = int(row.label), int(getattr(row, "predicted", row.label))
    return _name(source, label) if answer == label else f"{_name(source, label)} → {_name(source, answer)}"


def _name(source: Source, label: int) -> str:
    return source.classes[label] if 0 <= label < len(source.classes) else str(label)
