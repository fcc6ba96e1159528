"""Circle, sphere and map of one embedding with shared controls; a lasso keeps ids, shows thumbnails and exports them."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.figures.circle import circle
from core.figures.events import point_ids
from core.figures.points import colorings, groups, showing
from core.figures.scatter_map import scatter_map
from core.figures.spectrum import POINT
from core.figures.sphere import hemispheres, sphere
from core.figures.theme import Theme
from core.geometry.planes import total_variance
from core.glossary import help_text
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.hypersphere.picked import keep_picked, picked_ids, show_picked
from pages.parts.hypersphere.source import Source
from pages.parts.hypersphere.webgl import has_webgl
from pages.parts.kept import kept
from pages.parts.save import Save

CIRCLE, SPHERE, HALVES, PCA, TSNE = "Circle", "Sphere", "Hemispheres", "PCA map", "t-SNE map"
ALTS = {
    CIRCLE: "Embeddings of test images by their angle, one ring per group, with the density around the circle.",
    SPHERE: "Embeddings of test images on a sphere that can be turned, shaded by their density.",
    HALVES: "Embeddings of test images on the two halves of a sphere, drawn flat and shaded by their density.",
    PCA: "Test images in the first two principal components of the embedding.",
    TSNE: "Test images on a t-SNE map of the embedding.",
}
VIEW, COLOR, FOCUS = "sphere_view", "sphere_color", "sphere_groups"  # in the address
LASSO = {"modeBarButtonsToRemove": ["autoScale2d", "zoomIn2d", "zoomOut2d"]}
NO_WEBGL = (
    "This browser cannot draw in three dimensions (WebGL is off or missing), so the sphere is shown as two flat halves with the "
    "same points. To switch WebGL on, allow hardware acceleration in the browser's settings."
)
MAP_WORDS = {
    PCA: "Distances on this map are a shadow of those in all dimensions.",
    TSNE: "Only who is near whom means something here: t-SNE invents distances between groups and sizes of groups.",
}


def offered(source: Source) -> list[str]:
    """Views that an embedding has, the one that shows most of it first."""
    flat = {2: [CIRCLE, PCA], 3: [SPHERE, HALVES, PCA]}.get(source.dim, [PCA, CIRCLE, SPHERE, HALVES])
    found = flat if "pca" in source.arrays and source.dim > 3 else [view for view in flat if view != PCA]
    return [*found, TSNE] if "tsne" in source.arrays else found


def hypersphere(source: Source, key: str) -> None:
    """Controls, the chosen view, and what was lassoed in it.

    Args:
        source: The embedding.
        key: Start of the widget keys, unique on the page.
    """
    _views(source, key)


@st.fragment
def _views(source: Source, key: str) -> None:
    view, color_by, focus = _controls(source, key)
    if view == SPHERE and not has_webgl(f"{key}_webgl"):
        st.info(NO_WEBGL, icon=":material/view_in_ar_off:")
        view = HALVES
    picked = picked_ids(key, source)
    theme = current_theme()
    stamp = (source.id, view, color_by, " ".join(map(str, sorted(focus))), " ".join(map(str, sorted(picked))), theme.name)
    figure = kept(lambda: draw(source, view, theme, color_by, focus, picked), "hypersphere", *stamp)
    turn = st.session_state.get(f"{key}_turn", 0)
    options = {}
    if view != SPHERE:
        chart = f"{key}_chart_{turn}"
        options = dict(
            on_select=lambda: keep_picked(key, source, point_ids(st.session_state.get(chart))),
            selection_mode=("lasso", "box", "points"),
            config=LASSO,
        )
    show(
        figure,
        key=f"{key}_chart_{turn}",
        alt=ALTS[view],
        save=Save(name=f"{source.name}-{view}".lower().replace(" ", "-"), provenance=source.provenance),
        **options,
    )
    st.caption(_words(source, view))
    show_picked(source, key, picked)


def draw(source: Source, view: str, theme: Theme, color_by: str, focus: set[int], picked: set[int]) -> go.Figure:
    """The figure of a view."""
    arrays = source.arrays
    options = dict(color_by=color_by, classes=source.classes, focus=focus, picked=picked)
    n = len(arrays["labels"])
    subtitle = f"{source.about} · {showing(n, source.total or n, source.seed)}" if source.about else showing(n, source.total or n)
    if view in (PCA, TSNE):
        points = arrays["pca" if view == PCA else "tsne"]
        there = np.isfinite(points).all(axis=1)
        if view == TSNE and not there.all():
            subtitle = f"{source.about} · {showing(int(there.sum()), source.total or n, source.seed)}"
        rows = {name: arrays[name][there] for name in ("labels", "index", "predicted", "code") if name in arrays}
        kind = "pca" if view == PCA else "tsne"
        return scatter_map(points[there], rows, theme, kind=kind, title=source.name, subtitle=subtitle, **options)
    builder: Callable[..., go.Figure] = {CIRCLE: circle, SPHERE: sphere, HALVES: hemispheres}[view]
    return builder(arrays, theme, title=source.name, subtitle=subtitle, **options)


def _controls(source: Source, key: str) -> tuple[str, str, set[int]]:
    """View, colouring and the groups in colour; all three stand in the address."""
    views = offered(source)
    colors = [name for name in colorings(source.arrays) if not name.startswith("bit ") or int(name[4:]) <= source.bits]
    view = views[0]
    address.check(VIEW, list(ALTS), view)
    address.show_notices()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(views) > 1:
            view_key = f"{key}_view_{source.dim}_{len(views)}"
            view = st.segmented_control(
                "View", views, default=views[address.place(VIEW, views)], required=True, key=view_key,
                help=help_text("hypersphere", "pca", "tsne"), on_change=address.keep, args=(VIEW, view_key),
            )  # fmt: skip
        color_key = f"{key}_color_{len(colors)}"
        color_by = st.selectbox(
            "Colour by", colors, index=address.place(COLOR, colors), key=color_key, width=160, on_change=_recolor,
            args=(color_key,),
        )  # fmt: skip
        found = groups(source.arrays, color_by, source.classes)
        focus_key = f"{key}_focus_{color_by}"
        named = (address.recall(FOCUS) or "").split(",")
        focus = st.multiselect(
            "In colour", list(found.names), default=[value for value in found.names if str(value) in named],
            format_func=lambda value: found.names[value], key=focus_key, placeholder="all", width=260,
            help="The others turn grey and stay where they are.", on_change=address.keep, args=(FOCUS, focus_key),
        )  # fmt: skip
    return view, color_by, set(focus)


def _recolor(key: str) -> None:
    """Another colouring has other groups. For widget callbacks."""
    address.keep(COLOR, key)
    address.forget(FOCUS)


def _words(source: Source, view: str) -> str:
    """How to read the view."""
    if view in MAP_WORDS:
        spread = total_variance(source.arrays["z"])
        near = f"All points lie close together, variance {spread:.2g} of at most 1: the map is enlarged. "
        near = near if spread < POINT else ""
        return f"Draw around points to see the images. {near}{MAP_WORDS[view]}"
    if view == CIRCLE:
        exact = "The angle is the whole embedding." if source.dim == 2 else "The angle is a projection: much is lost in it."
        return (
            f"Draw around points to see the images. {exact} Rings only keep groups apart. A pale arc is the shortest that holds "
            "80% of its group; the grey rim is the density, dotted that of uniform points."
        )
    exact = "" if source.dim == 3 else "Directions are a projection: much of the embedding is lost. "
    turn = "Drag to turn; lasso on the hemispheres." if view == SPHERE else "Draw around points to see the images."
    return f"{turn} {exact}Shading: how dense the points are, compared with uniform ones."
