"""Tab Neighbours: a sheet of test images; a click shows the nearest others, with those of another class marked."""

import numpy as np
import streamlit as st

from core.datasets.dataset import DataSet
from core.figures.events import point_ids
from core.figures.neighbours import Thumbnail, neighbours
from core.figures.points import RIGHT, WRONG
from core.figures.thumbnails import Picture, thumbnails
from core.inspections.sheet import SHEETS, choose, share_of_class
from core.inspections.store import Inspection
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.inspect import pictures
from pages.parts.inspect.places import Found
from pages.parts.inspect.provenance import about, provenance
from pages.parts.kept import kept
from pages.parts.save import Save
from pages.parts.text import quoted

ON_SHEET, PER_ROW = 36, 12


def neighbours_tab(entry: Found, inspection: Inspection) -> None:
    """Draw the tab."""
    arrays = inspection.arrays
    if "neighbours" not in arrays or not arrays["neighbours"].shape[1]:
        st.info("Neighbours were not kept for this embedding.", icon=":material/hub:")
        return
    classes = tuple(inspection.summary.get("classes", ()))
    kind = _which(inspection)
    rows = choose(arrays, kind, classes, ON_SHEET, entry.spec.seed)
    if not len(rows):
        st.info("There is no such image in this inspection.", icon=":material/search_off:")
        return
    asked = _asked(arrays, rows)
    address.show_notices()
    data = pictures.data_of(entry.spec)
    if isinstance(data, str):
        st.info(f"{data} Neighbours are listed by their numbers.", icon=":material/hide_image:")
        _listed(arrays, asked, classes)
        return
    _strip(entry, inspection, data, asked, classes)
    _sheet(entry, inspection, data, rows, asked, classes, kind)
    agree = share_of_class(arrays["labels"], arrays["neighbours"])
    st.caption(
        f"On average {agree:.0%} of an image's {arrays['neighbours'].shape[1]} nearest neighbours in h are of its own class. "
        f"Cosines in h, among the {len(arrays['labels']):,} test images of this inspection."
    )


def _which(inspection: Inspection) -> str:
    """Which images are on the sheet."""
    classes = [f"class {name}" for name in inspection.summary.get("classes", ())]
    options = [*SHEETS, *classes]
    address.check("ins_sheet", options, options[0])
    address.show_notices()
    return st.selectbox("Images", options, key="ins_sheet", bind="query-params", width=380)


def _asked(arrays: dict[str, np.ndarray], rows: np.ndarray) -> int:
    """Row of the image whose neighbours are shown: the one the address names, else the first of the sheet."""
    named = address.recall("image")
    index = np.flatnonzero(arrays["index"] == int(named)) if named and named.isdecimal() and len(named) < 10 else ()
    if named and not len(index):
        address.forget("image")
        instead = int(arrays["index"][rows[0]])
        address.notice(
            f"The address asks for the image {quoted(named)}, which is not among the test images of this inspection; "
            f"showing {instead} instead."
        )
    return int(index[0]) if len(index) else int(rows[0])


def _strip(entry: Found, inspection: Inspection, data: DataSet, asked: int, classes: tuple[str, ...]) -> None:
    arrays, theme = inspection.arrays, current_theme()

    def thumbnail(row: int, cosine: float | None = None) -> Thumbnail:
        index = int(arrays["index"][row])
        return Thumbnail(pictures.pixels(data, index), index, _name(classes, int(arrays["labels"][row])), cosine)

    def make():
        near = zip(arrays["neighbours"][asked].tolist(), arrays["neighbour_cosine"][asked].tolist(), strict=True)
        return neighbours(thumbnail(asked), [thumbnail(row, cosine) for row, cosine in near], theme)

    figure = kept(make, "inspect neighbours", entry.store.stamp(entry.id), asked, theme.name)
    alt = "An image and its nearest neighbours by cosine in h; neighbours of another class have a thick frame and a cross."
    _clickable(figure, f"ins_strip_{asked}", alt, Save(name="neighbours", provenance=provenance(entry, inspection)))


def _sheet(
    entry: Found, inspection: Inspection, data: DataSet, rows: np.ndarray, asked: int, classes: tuple[str, ...], kind: str
) -> None:
    arrays, theme = inspection.arrays, current_theme()

    def picture(row: int) -> Picture:
        index, label, said = (int(arrays[name][row]) for name in ("index", "labels", "predicted"))
        name, right = _name(classes, label), label == said
        hover = f"<b>{name}</b> · test image {index}" + ("" if right else f"<br>the linear probe says {_name(classes, said)}")
        return Picture(index, pictures.pixels(data, index), name if right else f"{name} → {_name(classes, said)}", hover,
                       RIGHT if right else WRONG)  # fmt: skip

    def make():
        return thumbnails(
            [picture(row) for row in rows], theme, per_row=PER_ROW, title="Click an image to see its neighbours",
            subtitle=f"{about(entry, inspection)} · frame: blue, the probe is right; orange, wrong",
            selected=int(arrays["index"][asked]),
        )  # fmt: skip

    figure = kept(make, "inspect sheet", entry.store.stamp(entry.id), kind, asked, theme.name)
    key = f"ins_sheet_{kind}_{asked}".replace(" ", "_")
    _clickable(figure, key, "A sheet of test images with their classes; a click shows an image's neighbours.", None)


def _clickable(figure, key: str, alt: str, save: Save | None) -> None:
    """A figure of images; a click on one asks for its neighbours."""

    def clicked() -> None:
        if ids := point_ids(st.session_state.get(key)):
            address.remember("image", ids[0])

    show(figure, key=key, alt=alt, save=save, on_select=clicked, selection_mode="points")


def _listed(arrays: dict[str, np.ndarray], asked: int, classes: tuple[str, ...]) -> None:
    """The neighbours as a table, where there are no pictures."""
    near = arrays["neighbours"][asked]
    st.dataframe(
        {
            "test image": arrays["index"][near],
            "class": [_name(classes, int(label)) for label in arrays["labels"][near]],
            "cosine": arrays["neighbour_cosine"][asked].astype(np.float32),
        },
        hide_index=True,
        alt="Nearest neighbours of the image with their classes and cosines.",
    )


def _name(classes: tuple[str, ...], label: int) -> str:
    return classes[label] if 0 <= label < len(classes) else str(label)
