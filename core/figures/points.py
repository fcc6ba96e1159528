"""How the points of an embedding are coloured and greyed, the same in every view: circle, sphere, map and epochs."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.theme import OKABE_ITO, Theme

CLASS_COLORS = (*OKABE_ITO, "#9C755F", "#808890")  # up to ten classes; beyond that they repeat
BIT_COLORS = ("#0072B2", "#E69F00")
RIGHT, WRONG = "#56B4E9", "#D55E00"
POINTS = "points"  # name of the trace that holds them
SVG_LIMIT = 1000  # points; above it the browser draws with WebGL


class Groups(NamedTuple):
    """Points of one colour each."""

    names: dict[int, str]  # value -> name, in the order of the legend
    colors: dict[int, str]  # value -> colour
    of: NDArray[np.int64]  # (n,) value of each point


def colorings(arrays: Mapping[str, NDArray]) -> list[str]:
    """What the points of an embedding can be coloured by.

    Args:
        arrays: As in embedding.npz.

    Returns:
        "class"; with a probe's answers "predicted" and "correctness"; "bit 1", ... for the bits that the codes use.
    """
    found = ["class"]
    if "predicted" in arrays:
        found += ["predicted", "correctness"]
    codes = arrays.get("code")
    if codes is not None and len(codes):
        found += [f"bit {place}" for place in range(1, int(codes.max()).bit_length() + 1)]
    return found


def groups(arrays: Mapping[str, NDArray], color_by: str = "class", classes: Sequence[str] = ()) -> Groups:
    """The groups that points fall into.

    Args:
        arrays: As in embedding.npz: labels [n], and predicted [n] or code [n] where they are asked for.
        color_by: One of `colorings`.
        classes: Names of the classes; empty = their numbers.

    Raises:
        ValueError: If the arrays cannot be coloured like that.
    """
    bits = color_by.startswith("bit ") and "code" in arrays
    if not bits and color_by not in colorings(arrays):
        raise ValueError(f"color_by must be one of {', '.join(colorings(arrays))}, got {color_by!r}.")
    if bits:
        bit = np.uint64(int(color_by.removeprefix("bit ")) - 1)
        of = ((arrays["code"].astype(np.uint64) >> bit) & np.uint64(1)).astype(np.int64)
        return Groups({0: "0", 1: "1"}, dict(enumerate(BIT_COLORS)), of)
    labels = np.asarray(arrays["labels"]).astype(np.int64)
    if color_by == "correctness":
        return Groups({1: "right", 0: "wrong"}, {1: RIGHT, 0: WRONG}, (arrays["predicted"] == labels).astype(np.int64))
    of = np.asarray(arrays["predicted"]).astype(np.int64) if color_by == "predicted" else labels
    values = [int(value) for value in np.unique(of)]
    names = {value: classes[value] if 0 <= value < len(classes) else str(value) for value in values}
    return Groups(names, {value: CLASS_COLORS[value % len(CLASS_COLORS)] for value in values}, of)


def point_colors(
    found: Groups, index: NDArray, theme: Theme, *, focus: Collection[int] = (), picked: Collection[int] = ()
) -> NDArray[np.str_]:
    """One colour per point; what is not in focus or not picked is greyed, never hidden.

    Args:
        found: The groups.
        index: Id of each point, shape (n,).
        theme: Has the grey.
        focus: Groups that keep their colour; empty = all.
        picked: Ids that keep their colour; empty = all. Goes before `focus`.
    """
    colors = np.array([found.colors[value] for value in found.of.tolist()], dtype="U24")
    if len(picked):
        faded = ~np.isin(index, list(picked))
    elif len(focus):
        faded = ~np.isin(found.of, list(focus))
    else:
        return colors
    colors[faded] = theme.faded
    return colors


def drawing_order(colors: NDArray[np.str_], theme: Theme) -> NDArray[np.int64]:
    """Rows in the order in which they are drawn: greyed ones first, so that they lie below."""
    return np.argsort(colors != theme.faded, kind="stable")


def legend_entries(found: Groups, *, focus: Collection[int] = ()) -> list[tuple[str, str]]:
    """Colour and name of the groups that are in colour, in the order of the legend."""
    return [(found.colors[value], name) for value, name in found.names.items() if not len(focus) or value in focus]


def hover_lines(found: Groups, arrays: Mapping[str, NDArray], classes: Sequence[str] = ()) -> list[str]:
    """Hover text of each point: the image, its class, and the probe's answer where there is one."""

    def name(value: int) -> str:
        return classes[value] if 0 <= value < len(classes) else str(value)

    labels, index = np.asarray(arrays["labels"]).astype(int).tolist(), np.asarray(arrays["index"]).tolist()
    texts = [f"<b>{name(label)}</b> · test image {image}" for label, image in zip(labels, index, strict=True)]
    if "predicted" not in arrays:
        return texts
    answers = np.asarray(arrays["predicted"]).astype(int).tolist()
    return [
        text if answer == label else f"{text}<br>the linear probe says {name(answer)}"
        for text, answer, label in zip(texts, answers, labels, strict=True)
    ]


def showing(shown: int, total: int, seed: int | None = 0) -> str:
    """How many points are drawn, of how many, chosen how: "showing 1,000 of 5,000, stratified, seed 0"."""
    if shown >= total:
        return f"{shown:,} test images, all of them"
    chosen = "stratified" if seed is None else f"stratified, seed {seed}"
    return f"showing {shown:,} of {total:,} test images, {chosen}"


def add_legend(fig: go.Figure, found: Groups, *, focus: Collection[int] = (), **place) -> None:
    """Entries for the groups in colour. A click on one does nothing: points are greyed by the controls, never hidden.

    Args:
        fig: The figure; its points are one trace, so that a selection is one list.
        found: The groups.
        focus: Groups that keep their colour; empty = all.
        place: Settings of the legend.
    """
    nowhere = np.array([np.nan], dtype=np.float32)
    for color, name in legend_entries(found, focus=focus):
        fig.add_scatter(
            x=nowhere, y=nowhere, mode="markers", name=name, hoverinfo="skip", marker=dict(color=color, size=9), showlegend=True
        )
    at = dict(orientation="h", x=0, xanchor="left", y=1, yanchor="bottom") | place
    fig.update_layout(legend=dict(itemclick=False, itemdoubleclick=False, itemsizing="constant", font=dict(size=13), **at))


def lasso(fig: go.Figure) -> None:
    """Settings of a figure whose points can be lassoed: what is not selected is greyed by our own colours, not by Plotly's."""
    fig.update_layout(dragmode="lasso", clickmode="event+select", hovermode="closest", newselection=dict(mode="immediate"))
    same = dict(marker=dict(opacity=1.0))
    fig.update_traces(selected=same, unselected=dict(marker=dict(opacity=0.35)), selector=dict(name=POINTS))
