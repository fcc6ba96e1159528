"""Tabs of an inspection that are one figure or two: hypersphere, spectrum, similarities, confusion, competing features."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.checkpoints.uploads import clean_name
from core.figures.competing import COLORS, bit_pull, competing
from core.figures.confusion import confusion
from core.figures.cosine_histograms import cosine_histograms, kinds
from core.figures.spectrum import Spectrum, images_of, spectrum_figure, takeaway
from core.figures.theme import Theme
from core.glossary import help_text
from core.inspections.alterations import ALTERATIONS
from core.inspections.store import Inspection
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.hypersphere.source import Source
from pages.parts.hypersphere.uniformity import uniformity
from pages.parts.hypersphere.views import hypersphere
from pages.parts.inspect import pictures
from pages.parts.inspect.places import Found
from pages.parts.inspect.provenance import about, provenance
from pages.parts.kept import kept
from pages.parts.save import Save

HEIGHT = 460  # px of a figure on its own


def spaces(inspection: Inspection) -> list[str]:
    """The spaces that were measured: z first, because the sphere is where the loss put it."""
    return [space for space in ("z", "h") if space in inspection.arrays]


def choose_space(inspection: Inspection, key: str) -> str:
    """h or z, in the address; z unless there is none."""
    there = spaces(inspection)
    if len(there) == 1:
        return there[0]
    address.check(key, there, there[0])
    return st.segmented_control(
        "Representation", there, default=there[0], required=True, key=key, bind="query-params",
        help=help_text("space_h", "space_z"),
    )  # fmt: skip


def hypersphere_tab(entry: Found, inspection: Inspection, space: str) -> None:
    """Circle, sphere and maps of one space, with lasso; below, the tests of uniformity."""
    source = source_of(entry, inspection, space)
    hypersphere(source, f"ins_sphere_{space}")
    uniformity(source, inspection.summary.get(space))


def source_of(entry: Found, inspection: Inspection, space: str) -> Source:
    """One space as the hypersphere views take it."""
    arrays = inspection.arrays
    taken = {name: arrays[name] for name in ("labels", "index", "predicted", "code") if name in arrays}
    taken |= {"z": arrays[space]}
    taken |= {name: arrays[f"{name}_{space}"] for name in ("pca", "tsne") if f"{name}_{space}" in arrays}
    numbers = inspection.summary
    return Source(
        id=f"{entry.store.stamp(entry.id)} {space}", name=f"{entry.spec.name}, {space}",
        about=about(entry, inspection, counted=False), provenance=provenance(entry, inspection), arrays=taken,
        classes=tuple(numbers.get("classes", ())),
        total=int(numbers.get("n_test_all", 0)), seed=entry.spec.seed, bits=entry.spec.bits,
        images=lambda: pictures.data_of(entry.spec),
    )  # fmt: skip


def spectrum_tab(entry: Found, inspection: Inspection) -> None:
    """Singular values of h and z."""
    found = [
        Spectrum(space, inspection.arrays[f"singular_{space}"], COLORS[space], images=images_of(inspection.arrays, space))
        for space in ("h", "z")
        if f"singular_{space}" in inspection.arrays
    ]

    def make(theme: Theme) -> go.Figure:
        return spectrum_figure(found, theme, title=takeaway(found), subtitle=about(entry, inspection), height=HEIGHT)

    def data() -> pd.DataFrame:
        return pd.concat(
            [pd.DataFrame({"space": one.name, "dimension": range(1, one.most + 1), "value": one.possible}) for one in found]
        )

    _draw(
        entry, inspection, "spectrum", make, "Singular values of the covariance of h and z, largest first, on a log scale.", data
    )
    st.caption(
        "Rows are divided by their length and centred first. A steep fall is dimensional collapse: directions of the sphere that "
        "the encoder does not use. The effective rank (diamond) is read from these values; RankMe, in the summary, is another "
        "number, read from their square roots for rows as they are.",
        help=help_text("spectrum", "effective_rank", "rankme", "participation_ratio"),
    )


def similarities_tab(entry: Found, inspection: Inspection, space: str) -> None:
    """Cosines of pairs over the exact density for uniform points."""
    arrays, dim = inspection.arrays, inspection.arrays[space].shape[1]
    counts = [arrays.get(f"cos_{kind}_{space}") for kind in ("same", "different", "positive")]
    if counts[0] is None or counts[1] is None:
        st.info("The cosines were not kept for this embedding.", icon=":material/bar_chart:")
        return
    pairs = kinds(*counts)
    if not pairs:
        st.info("There are too few images for a pair.", icon=":material/bar_chart:")
        return

    def make(theme: Theme) -> go.Figure:
        return cosine_histograms(
            arrays["cos_edges"], pairs, dim, theme, subtitle=about(entry, inspection, space), height=HEIGHT + 60
        )

    def data() -> pd.DataFrame:
        edges = arrays["cos_edges"]
        return pd.DataFrame({"from": edges[:-1], "to": edges[1:]} | {pair.name: pair.counts for pair in pairs})

    alt = "Histograms of the cosines of two views, of one class and of different classes, over the density for uniform points."
    _draw(entry, inspection, f"cosines {space}", make, alt, data)


def confusion_tab(entry: Found, inspection: Inspection) -> None:
    """Which class is taken for which."""
    counts = inspection.arrays.get("confusion")
    if counts is None:
        st.info("The probe's answers were not kept.", icon=":material/grid_on:")
        return
    classes = tuple(inspection.summary.get("classes", ()))

    def make(theme: Theme) -> go.Figure:
        return confusion(counts, theme, classes=classes, subtitle=about(entry, inspection, "h"))

    def data() -> pd.DataFrame:
        names = [classes[place] if place < len(classes) else str(place) for place in range(len(counts))]
        return pd.DataFrame(counts, index=pd.Index(names, name="class"), columns=names).reset_index()

    alt = "Confusion matrix of the linear probe: true classes in rows, its answers in columns."
    _draw(entry, inspection, "confusion", make, alt, data)


def competing_tab(entry: Found, inspection: Inspection) -> None:
    """What the encoder uses: accuracy when a feature is taken away, and what the embedding follows."""
    numbers = inspection.summary
    if not numbers.get("competing"):
        st.info("Nothing was altered in this inspection.", icon=":material/tune:")
        return

    def accuracies(theme: Theme) -> go.Figure:
        return competing(numbers, theme, subtitle=about(entry, inspection), height=HEIGHT)

    def data() -> pd.DataFrame:
        return pd.json_normalize(numbers["competing"])

    alt = "Accuracy of a linear probe fitted on plain images, on plain and on altered test images."
    _draw(entry, inspection, "competing", accuracies, alt, data)
    used = [ALTERATIONS[row["name"]] for row in numbers["competing"] if row["name"] in ALTERATIONS]
    st.caption("  \n".join(f"**{alteration.title.capitalize()}.** {alteration.sentence}" for alteration in used))
    st.caption(
        "The probe is fitted on plain training images; only the test images are altered.", help=help_text("competing_features")
    )
    if not entry.spec.bits:
        return

    def pulls(theme: Theme) -> go.Figure:
        return bit_pull(numbers, theme, subtitle=about(entry, inspection), height=HEIGHT)

    alt = "Mean cosine of embeddings that share the image, the bits, or neither."
    _draw(entry, inspection, "bit pull", pulls, alt, data)
    if bits := numbers.get("bits"):
        st.caption(
            f"One logistic probe per bit recovers {bits['known']:.1f} of {bits['bits']} bits from h.",
            help=help_text("bits_known"),
        )


def _draw(entry: Found, inspection: Inspection, name: str, make, alt: str, data) -> None:
    """A figure that is built once per result and theme."""
    theme = current_theme()
    figure = kept(lambda: make(theme), f"inspect {name}", entry.store.stamp(entry.id), theme.name)
    file = f"{clean_name(entry.spec.name)}-{name}".replace(" ", "-").lower()
    key = f"ins_{name.replace(' ', '_')}"
    show(figure, key=key, alt=alt, save=Save(name=file, provenance=provenance(entry, inspection), data=data))
