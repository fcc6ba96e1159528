"""Statistical uniformity in words: Rayleigh, Bingham and the gap of the cosine law, with what each can and cannot see."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from core.geometry.planes import unit
from core.geometry.sphere_tests import bingham, cosine_gap, rayleigh
from core.geometry.verdicts import CAUTION, Verdict, verdicts
from core.glossary import help_text
from pages.parts.hypersphere.source import Source
from pages.parts.kept import kept


def uniformity(source: Source, summary: Mapping | None = None) -> None:
    """A table of the three tests and how to read them.

    Args:
        source: The embedding.
        summary: Holds rayleigh, bingham and cosine_gap where they were measured before; else they are computed here.
    """
    found = kept(lambda: _verdicts(source, summary or {}), "uniformity tests", source.id)
    st.markdown("**Are the points uniform on the sphere?**", help=help_text("rayleigh", "bingham", "cosine_gap"))
    if isinstance(found, str):
        st.caption(found)
        return
    st.table(
        {
            "Test": [verdict.name for verdict in found],
            "Size of the effect, 0 to 1": [verdict.effect for verdict in found],
            "What it says": [verdict.said for verdict in found],
            "Sees": [verdict.sees for verdict in found],
            "Cannot see": [verdict.blind for verdict in found],
        },
        border="horizontal",
        hide_index=True,
    )
    st.caption(CAUTION)


def _verdicts(source: Source, summary: Mapping) -> list[Verdict] | str:
    """The tests in words, or why there are none."""
    z = source.arrays["z"]
    if source.dim < 2 or len(z) < 2:
        return f"The tests need at least 2 points in 2 dimensions; there are {len(z)} in {source.dim}."
    if all(name in summary for name in ("rayleigh", "bingham", "cosine_gap")):
        tests = (summary["rayleigh"], summary["bingham"], summary["cosine_gap"])
        return verdicts(*tests, int(summary.get("rows", len(z))))
    rows = unit(z)
    rows = rows[np.any(rows != 0, axis=1)]
    if len(rows) < 2:
        return "All embeddings are zero and have no direction, so the tests have nothing to say."
    return verdicts(rayleigh(rows), bingham(rows), cosine_gap(rows), len(rows))
