"""What a checkpoint holds, as the reading process reports it: the essence at once, the rest folded."""

import re

import pandas as pd
import streamlit as st

from core.checkpoints.inspection import inspect
from core.checkpoints.report import CheckpointError, CheckpointReport
from core.checkpoints.tensors import bytes_text
from core.glossary import help_text
from pages.parts.inspect.source import Source
from pages.parts.kept import kept
from pages.parts.text import literal

# What to do about a problem: sentences, each with the words by which a message that says it already is known.
WHAT_NOW = {
    "not_a_checkpoint": (
        ("Choose the file that holds the weights: .pth, .pt, .ckpt, .tar or .safetensors.", r"\bopen|\bsave\b|fetch|download"),
    ),
    "unsupported": (("Save the state_dict of the model with torch.save or as safetensors, and open that.", r"\bsave\b|\bopen"),),
    "damaged": (("Copy or download the file again and compare its size with the original.", r"\bagain\b"),),
    "hostile": (
        ("Do not open this file with other tools.", r"with other tools"),
        ("Ask whoever sent it where it comes from.", r"whoever sent"),
    ),
    "no_encoder": (("Save the encoder's own state_dict, or name the prefix under which it lies.", r"\bprefix\b|open that one"),),
    "mismatch": (("Another branch or prefix may fit. What was left over is listed below.", r"another branch"),),
}


def what_now(problem: str | None, message: str) -> str:
    """What to do about a problem, without what its message says already; empty if there is nothing to add."""
    sentences = WHAT_NOW.get(problem or "", ())
    return " ".join(text for text, said in sentences if not re.search(said, message, re.IGNORECASE))


def read(source: Source, **choices: str | None) -> CheckpointReport | CheckpointError:
    """The report of a file, kept until the file or a choice changes; an error is returned, not raised."""
    given = {name: value for name, value in choices.items() if value is not None}
    try:
        found = source.path.stat()
    except OSError as error:
        return CheckpointError("not_found", f"{source.name} cannot be read: {error.strerror or error}.")

    def look() -> CheckpointReport | CheckpointError:
        try:
            return inspect(source.path, **given)
        except CheckpointError as error:
            return error

    with st.spinner("Reading the file in a separate process"):
        settled = [f"{name}={value}" for name, value in sorted(given.items())]
        return kept(look, "report", str(source.path), found.st_mtime_ns, found.st_size, *settled)


def show_error(error: CheckpointError, name: str) -> None:
    """Why a file was not opened, and what to do next."""
    advice = what_now(error.problem, str(error))
    st.error(f"**{literal(name)}** was not opened. {literal(str(error))} {advice}".rstrip(), icon=":material/block:")


def card(report: CheckpointReport, name: str) -> None:
    """Draw the report."""
    with st.container(border=True):
        st.markdown(f"**{literal(name)}**: {literal(report.layout_name)}, {report.kind}, {bytes_text(report.bytes)}")
        with st.grid("auto", min_column_width=190):
            for label, value, help_mark in _essence(report):
                st.markdown(f":small[{label}]  \n**{literal(value)}**", help=help_mark)
        for text in _warnings(report):
            st.warning(literal(text), icon=":material/warning:")
        for note in report.notes:
            if note not in report.warnings:
                st.caption(f"Note: {literal(note)}")
        if report.refusal is not None:
            advice = what_now(report.refusal_problem, report.refusal)
            st.error(f"The encoder cannot be used. {literal(report.refusal)} {advice}".rstrip(), icon=":material/block:")
        details(report)


def _essence(report: CheckpointReport) -> list[tuple[str, str, str | None]]:
    projector = report.projector.text if report.projector else "none"
    fits = f"{report.matched} of {report.expected} tensors" if report.expected else "–"
    rows = [
        ("Encoder", report.architecture or "not recognised", None),
        ("h", f"{report.h_dim:,} dimensions" if report.h_dim else "–", help_text("representation")),
        ("Parameters", f"{report.parameters:,}" if report.parameters else "–", "Of the encoder, without its heads."),
        ("Input", " or ".join(report.inputs) or "–", None),
        ("Projector", projector, help_text("projection_head")),
        ("Fits", fits, "Tensors of the encoder that were found in the file, of those that it needs. Below 95 % it is not used."),
    ]
    return [row for row in rows if row[1] != "–"]


def _warnings(report: CheckpointReport) -> list[str]:
    """What makes numbers about the encoder doubtful, each said once."""
    found = list(report.warnings)
    if report.zero_fraction is not None and report.zero_fraction > 0.5:
        found.append(f"{report.zero_fraction:.0%} of the encoder's weights are zero.")
    return found


def details(report: CheckpointReport) -> None:
    """Everything else that was found, folded; made when it is opened."""
    folded = st.expander("Everything that was found", icon=":material/list:", on_change="rerun", key="ins_details")
    if not folded.open:
        return
    with folded:
        facts = {
            "SHA-256": report.sha256, "outermost keys": ", ".join(report.top_level) or "none",
            **{name: value for name, value in report.facts.items()},
            "tensors in the file": f"{report.tensors:,}, {bytes_text(report.tensor_bytes)}",
            "stored as": ", ".join(f"{count} {dtype}" for dtype, count in report.dtypes.items()),
            "branches": "; ".join(f"{branch.name}: {branch.role}, {branch.architecture}" for branch in report.branches) or "none",
            "heads": "; ".join(f"{head.role} {head.prefix}: {head.text}" for head in report.heads) or "none",
            "other tensors": ", ".join(report.extras) or "none",
            "left over": ", ".join(report.left_prefixes) or "nothing",
            "missing": _some(report.missing), "not expected": _some(report.unexpected),
            "of another shape": _some(report.mismatched),
        }  # fmt: skip
        st.table({name: literal(str(value)) for name, value in facts.items() if value}, border="horizontal")
        if report.rows:
            frame = pd.DataFrame([row.model_dump() for row in report.rows])
            frame["shape"] = ["×".join(map(str, shape)) for shape in frame["shape"]]
            number = st.column_config.NumberColumn(format="%.4g")
            st.dataframe(
                frame, hide_index=True, height=300, placeholder="–", column_config=dict.fromkeys(("mean", "std", "norm"), number),
                alt="Tensors of the encoder with their shapes, types and statistics.",
            )  # fmt: skip


def _some(names: tuple[str, ...], most: int = 8) -> str:
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
