"""One run from epoch to epoch: the embedding moving, and up to six epochs side by side."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.comparison import MOST, epoch_numbers, spaced
from core.figures.cka import cka_matrix
from core.figures.epochs import epochs_figure
from core.figures.points import colorings
from core.figures.previews import Preview, previews
from core.geometry.alike import aligned_epochs, alignment_table
from core.geometry.planes import leading
from core.glossary import help_text
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.checkpoint_compare.candidates import Candidate, elsewhere
from pages.parts.kept import kept
from pages.parts.save import Save

RUN, CHOSEN = "epochs_of", "epochs"  # in the address
WIDTH = 460  # px; table and matrix side by side at 1440, one below the other at 1024
EMPTY = (
    "No run here has kept its embedding from epoch to epoch. Add `save_every = 1` to the settings of a study, or to a single "
    "run: `python -m core train --set save_every=1`."
)


def with_epochs(found: Sequence[Candidate]) -> list[Candidate]:
    """Runs that have kept the embeddings of several epochs."""
    return [candidate for candidate in found if candidate.entry is not None and _asked(candidate)]


@st.fragment
def epochs(found: Sequence[Candidate]) -> None:
    """Choose a run; its animation, then some of its epochs side by side.

    Args:
        found: Runs with kept epochs, at least one.
    """
    by_id = {candidate.id: candidate for candidate in found}
    elsewhere(RUN, by_id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Run", list(by_id), index=address.place(RUN, list(by_id)), format_func=lambda name: by_id[name].label,
            key="cmp_run", persist_state="session", width=430, on_change=_other_run,
        )  # fmt: skip
        run = by_id[chosen]
        stored = kept(lambda: run.entry.store.embedding(run.entry.name, run.run_id), "kept epochs", run.stamp)
        if stored is None or "z_epochs" not in stored:
            st.info("The kept epochs of this run are gone.", icon=":material/scatter_plot:")
            return
        spec = run.entry.store.spec(run.entry.name, run.run_id)
        colors = [name for name in colorings(stored) if not name.startswith("bit ") or int(name[4:]) <= spec.bits]
        color_by = st.selectbox("Colour by", colors, key=f"cmp_color_{len(colors)}", bind="query-params", width=150)
        aligned = st.toggle("Align axes", True, key="cmp_aligned", bind="query-params", help=help_text("procrustes"))
    _animation(run, stored, color_by, aligned)
    _side_by_side(run, stored)


def _animation(run: Candidate, stored: dict[str, np.ndarray], color_by: str, aligned: bool) -> None:
    theme = current_theme()
    numbers = stored["epochs"].tolist()
    frames = kept(lambda: aligned_epochs(stored["z_epochs"]), "aligned epochs", run.stamp) if aligned else stored["z_epochs"]
    history = run.entry.store.history(run.entry.name, run.run_id)
    path = {name: history[name].to_numpy() for name in ("epoch", "alignment", "uniformity") if name in history}
    axes = "axes aligned from epoch to epoch" if aligned else "axes as the encoder has them"
    subtitle = f"{run.group} · {frames.shape[1]:,} test images, epochs {numbers[0]} to {numbers[-1]} · {axes}"
    show(
        kept(
            lambda: epochs_figure(
                frames, numbers, stored, theme, path=path, color_by=color_by, title=run.name, subtitle=subtitle
            ),
            "epochs",
            run.stamp,
            aligned,
            color_by,
            theme.name,
        ),
        key="cmp_epochs",
        alt="The embedding of test images from epoch to epoch, beside the run's path in the alignment-uniformity plane.",
        save=Save(name="epochs", provenance=run.made()),
    )
    st.caption("Play and slider work in the browser. Epoch 0 is the encoder before training.")


def _side_by_side(run: Candidate, stored: dict[str, np.ndarray]) -> None:
    numbers = stored["epochs"].tolist()
    st.subheader("Epochs side by side")
    key = f"cmp_epochs_of_{run.id}"
    named = (address.recall(CHOSEN) or "").split(",")
    asked = [number for number in numbers if str(number) in named][:MOST]
    chosen = st.multiselect(
        "Epochs, up to six", numbers, default=asked or [numbers[place] for place in spaced(len(numbers))],
        max_selections=MOST, key=key, on_change=address.keep, args=(CHOSEN, key),
    )  # fmt: skip
    if not chosen:
        st.info("Choose at least one epoch.", icon=":material/timeline:")
        return
    chosen = sorted(chosen)
    theme, stamp = current_theme(), f"{run.stamp} {chosen}"
    frames = kept(lambda: aligned_epochs(stored["z_epochs"]), "aligned epochs", run.stamp)
    parts = [frames[numbers.index(epoch)] for epoch in chosen]

    def small():
        shown = [
            Preview(f"epoch {epoch}", {"z": z, "pca": leading(z, 3).points, "labels": stored["labels"]})
            for epoch, z in zip(chosen, parts, strict=True)
        ]
        return previews(shown, theme)

    figure = kept(small, "epoch pictures", stamp, theme.name)
    show(figure, key="cmp_epoch_pictures", alt="Some epochs of the embedding, coloured by class.", save=None)
    history = run.entry.store.history(run.entry.name, run.run_id)
    cells = st.grid(2, min_column_width=WIDTH)
    with cells.cell():
        table = kept(lambda: epoch_numbers(np.stack(parts), chosen, history), "epoch numbers", stamp)
        written = {"Epoch": [str(epoch) for epoch in chosen]}
        written |= {f"{name[0].upper()}{name[1:]}": [_text(value) for value in table[name]] for name in table if name != "epoch"}
        st.table(written, border="horizontal", hide_index=True)
        st.caption("Uniformity of the stored test images. The rest is measured after each epoch, so epoch 0 has none.")
    with cells.cell():
        names = [f"Epoch {epoch}" for epoch in chosen]
        show(
            kept(
                lambda: cka_matrix(alignment_table(parts, [stored["index"]] * len(parts)), names, theme, height=340),
                "epoch cka",
                stamp,
                theme.name,
            ),
            key="cmp_epoch_cka",
            alt="Centred kernel alignment of z between the chosen epochs.",
            save=Save(name="epochs-cka", provenance=run.made()),
        )


def _other_run() -> None:
    """Another run has other epochs. For widget callbacks."""
    address.keep(RUN, "cmp_run")
    address.forget(CHOSEN)


def _text(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}".replace("-", "−")


def _asked(candidate: Candidate) -> bool:
    spec = kept(lambda: candidate.entry.store.spec(candidate.entry.name, candidate.run_id), "spec of a run", candidate.stamp)
    return spec is not None and bool(spec.save_every) and spec.epochs > 0 and spec.objective != "untrained"

