"""Encoders side by side: small pictures, the alignment-uniformity plane, CKA, spectra, and all numbers."""

from collections.abc import Sequence

import streamlit as st

from core.comparison import Encoder, flat_arrays, likeness, metrics_table
from core.figures.cka import cka_matrix
from core.figures.encoder_plane import Placed, encoder_plane
from core.figures.previews import Preview, previews
from core.figures.spectrum import Spectrum, images_of, spectrum_figure
from core.figures.text import wrapped
from core.figures.theme import OKABE_ITO
from core.glossary import help_text
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.save import Save

NAME_WIDTH = {1: 80, 2: 50, 3: 34, 4: 25, 5: 20, 6: 17}  # characters under a picture, by how many there are
WIDTH = 460  # px; two charts side by side at 1440, one below the other at 1024
HELP = {
    "linear probe": "linear_accuracy",
    "kNN": "knn_accuracy",
    "alignment": "alignment",
    "uniformity": "uniformity",
    "tolerance": "tolerance",
    "mean vector": "rayleigh",
    "axes": "bingham",
    "cosine gap": "cosine_gap",
}
PLANE = "Test images, alignment of two augmented views · colour: linear probe"
CKA_HELP = "Random embeddings of few images have a CKA above 0: about d / (n + d)."


def pictures(encoders: Sequence[Encoder], stamp: str) -> None:
    """A row of small embeddings."""
    theme = current_theme()

    def draw():
        shown = [
            Preview(wrapped(encoder.name, NAME_WIDTH[len(encoders)]), flat_arrays(encoder), missing="no embedding stored")
            for encoder in encoders
        ]
        return previews(shown, theme)

    show(
        kept(draw, "compare pictures", stamp, theme.name),
        key="cmp_pictures",
        alt="Small pictures of the embeddings of the chosen encoders, coloured by class.",
        save=None,
    )
    st.caption(
        "Colour: class. Two dimensions: the circle itself, one ring per class. Three: the sphere from one side. More: the "
        "first two principal components."
    )


def choose_space(encoders: Sequence[Encoder]) -> str:
    """Draw the choice between h and z; h first, because it is what probes look at."""
    there = [space for space in ("h", "z") if any(space in encoder.arrays for encoder in encoders)]
    return st.segmented_control(
        "CKA and spectra of",
        there,
        default=there[0],
        required=True,
        key=f"cmp_space_{''.join(there)}",
        bind="query-params",
        help="h is the encoder's output, z what the projection head makes of it. " + CKA_HELP,
    )


def plane_and_likeness(encoders: Sequence[Encoder], space: str, stamp: str, line: str) -> None:
    """Two charts side by side."""
    theme = current_theme()
    cells = st.grid(2, min_column_width=WIDTH)
    with cells.cell():
        placed = [
            Placed(
                encoder.name,
                _number(encoder.numbers.get("alignment")),
                _number(encoder.numbers.get("uniformity")),
                encoder.h.get("linear_accuracy"),
                int(encoder.numbers.get("dim", 2)),
            )
            for encoder in encoders
        ]
        show(
            kept(lambda: encoder_plane(placed, theme, subtitle=PLANE), "compare plane", stamp, theme.name),
            key="cmp_plane",
            alt="Alignment against uniformity of the chosen encoders, coloured by accuracy, with the optimum of each dimension.",
            save=Save(name="encoder-plane", provenance=line),
        )
    with cells.cell():
        show(
            kept(
                lambda: cka_matrix(
                    likeness(encoders, space), [encoder.name for encoder in encoders], theme,
                    subtitle=f"Of {space}, on the images that both have seen",
                ),
                "compare cka",
                stamp,
                space,
                theme.name,
            ),
            key="cmp_cka",
            alt="Centred kernel alignment of all pairs of the chosen encoders.",
            save=Save(name=f"cka-{space}", provenance=line),
        )


def spectra(encoders: Sequence[Encoder], space: str, stamp: str, line: str) -> None:
    """Spectra of all encoders in one chart."""
    theme = current_theme()
    lines = [
        Spectrum(
            encoder.name, encoder.arrays[f"singular_{space}"], OKABE_ITO[place], images=images_of(encoder.arrays, space)
        )
        for place, encoder in enumerate(encoders)
        if f"singular_{space}" in encoder.arrays
    ]
    if not lines:
        st.info(f"None of these encoders has its {space} stored, so there is no spectrum.", icon=":material/show_chart:")
        return
    missing = len(encoders) - len(lines)
    subtitle = f"Unit {space} of test images · diamond: effective rank · cross: first collapsed dimension"
    subtitle += f" · {missing} without stored {space}" if missing else ""
    show(
        kept(lambda: spectrum_figure(lines, theme, subtitle=subtitle), "compare spectra", stamp, space, theme.name),
        key="cmp_spectra",
        alt="Singular values of the covariance of the chosen encoders on a log scale.",
        save=Save(name=f"spectra-{space}", provenance=line),
    )
    st.caption(
        "The effective rank is read from these values: eigenvalues of the covariance of unit rows. RankMe, in the table, is "
        "another number: it is read from the singular values of the rows as they are.",
        help=help_text("effective_rank", "rankme"),
    )


def numbers(encoders: Sequence[Encoder]) -> None:
    """All numbers, one row per encoder."""
    plain = {name: st.column_config.NumberColumn(format="%.3f", help=help_text(key)) for name, key in HELP.items()}
    ranks = ("RankMe of z", "RankMe of h")
    plain |= {name: st.column_config.NumberColumn(format="%.1f", help=help_text("rankme")) for name in ranks}
    plain["above optimum"] = st.column_config.NumberColumn(
        format="%.3f", help="Uniformity minus that of uniform points in as many dimensions: 0 is the best there is."
    )
    st.dataframe(
        metrics_table(encoders).dropna(axis="columns", how="all"),  # where no file has a projector there is no RankMe of z
        hide_index=True,
        placeholder="–",
        key="cmp_numbers",
        column_config={"encoder": st.column_config.TextColumn(pinned=True), **plain},
        alt="Accuracy and geometry of the chosen encoders.",
    )


def _number(value: float | None) -> float:
    """A number of an encoder; NaN where it was not measured, or has no value."""
    return float("nan") if value is None else float(value)
