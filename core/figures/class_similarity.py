"""How similar images of two classes are in the embedding: a bright diagonal where classes are kept, none where they are not."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.lines import COMPACT_HEIGHT
from core.figures.theme import HEIGHT, OTHER_SCALE, Theme, style


def class_means(z: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean cosine similarity of images of two classes, an image never with itself.

    Args:
        z: Unit rows, shape (n, d).
        labels: Class of each row, shape (n,).

    Returns:
        The classes, sorted, shape (k,), and the means, symmetric, shape (k, k), from -1 to 1. NaN on the diagonal of a class
        with one image.
    """
    classes, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rows = z.astype(np.float64)
    sums = np.zeros((len(classes), rows.shape[1]))
    np.add.at(sums, place, rows)  # (k, d)
    total = sums @ sums.T  # (k, k), sums of all cosines between two classes
    pairs = np.outer(counts, counts).astype(float)
    own = np.bincount(place, weights=(rows**2).sum(axis=1))  # an image with itself
    total[np.diag_indices_from(total)] -= own
    pairs[np.diag_indices_from(pairs)] -= counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return classes, np.where(pairs > 0, total / pairs, np.nan)


def within(z: np.ndarray, labels: np.ndarray) -> float:
    """Mean over classes of the similarity of two images of the same class; NaN if no class has two."""
    diagonal = np.diag(class_means(z, labels)[1])
    return float(np.nanmean(diagonal)) if np.isfinite(diagonal).any() else float("nan")


def class_similarity(
    arrays: dict[str, np.ndarray],
    theme: Theme,
    *,
    classes: Sequence[str] = (),
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw the similarities of all pairs of classes.

    Args:
        arrays: z [n, d] unit rows and labels [n].
        theme: Colours.
        classes: Names of the classes; empty = their numbers.
        title: What is shown.
        subtitle: Settings; the mean within a class is added.
        height: Pixels.
    """
    present, means = class_means(arrays["z"], arrays["labels"])
    names = [classes[value] if value < len(classes) else str(value) for value in present]
    fig = go.Figure(_map(means, names, _top(means), scale=True, theme=theme))
    same = f"within a class {within(arrays['z'], arrays['labels']):.2f} on average"
    style(fig, theme, title=title, subtitle=" · ".join(filter(None, (subtitle, same))), height=height)
    fig.update_xaxes(title_text="Class", type="category", constrain="domain")
    fig.update_yaxes(title_text="Class", type="category", autorange="reversed", scaleanchor="x", constrain="domain")
    return fig


def class_similarity_pair(
    before: dict[str, np.ndarray],
    after: dict[str, np.ndarray],
    names: tuple[str, str],
    theme: Theme,
    *,
    height: int = COMPACT_HEIGHT,
) -> go.Figure:
    """Two of them side by side on one colour scale: with and without the easy feature."""
    found = [class_means(arrays["z"], arrays["labels"]) for arrays in (before, after)]
    top = max(_top(means) for _, means in found)
    fig = make_subplots(rows=1, cols=2, horizontal_spacing=0.06)
    for column, (classes, means) in enumerate(found, 1):
        fig.add_trace(_map(means, [str(value) for value in classes], top, scale=False, theme=theme), row=1, col=column)
    style(fig, theme, height=height)
    plain = dict(showgrid=False, showticklabels=False, ticks="", showline=False, constrain="domain")
    for column, name in enumerate(names, 1):
        axis = "" if column == 1 else column
        fig.update_layout({f"xaxis{axis}": plain, f"yaxis{axis}": {**plain, "autorange": "reversed", "scaleanchor": f"x{axis}"}})
        fig.add_annotation(
            x=0.5,
            xref=f"x{axis} domain",
            y=0,
            yref=f"y{axis} domain",
            text=name,
            showarrow=False,
            yanchor="top",
            yshift=-6,
            font=dict(color=theme.muted, size=13),
        )
    return fig.update_layout(margin=dict(l=6, r=6, t=6, b=30), dragmode=False)


def _top(means: np.ndarray) -> float:
    """End of the colour scale: the greatest similarity, rounded up to a tenth, at least 0.1."""
    greatest = np.nanmax(means) if np.isfinite(means).any() else 0.0
    return max(0.1, float(np.ceil(greatest * 10) / 10))


def _map(means: np.ndarray, names: Sequence[str], top: float, *, scale: bool, theme: Theme) -> go.Heatmap:
    muted = dict(color=theme.muted)
    return go.Heatmap(
        z=means.astype(np.float32),
        x=list(names),
        y=list(names),
        zmin=0,
        zmax=top,
        colorscale=OTHER_SCALE,
        showscale=scale,
        colorbar=dict(title=dict(text="Mean cosine", font=muted), tickfont=muted, thickness=12),
        hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        xgap=1,
        ygap=1,
    )
