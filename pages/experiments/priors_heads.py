"""Priors and heads: five losses, four depths of the projection head, and the distribution each of them reaches."""

from collections import Counter

import streamlit as st

from core.figures.metrics import METRICS
from core.geometry.priors import PRIOR_OF
from core.glossary import help_text
from core.studies.catalogue import Entry
from core.studies.heads import at_weight, claims_of, fold_heads, measured_weights, weights_text
from pages.parts import address, live, studies
from pages.parts.kept import kept, version
from pages.parts.priors_heads.depths import dots, gaps, gcl_reading, heads_footer, verdicts
from pages.parts.priors_heads.distribution import distribution

LAM_HELP = (
    "The published weight is 5 on a scale that is not stated. On ours it is 10 if the authors' notebook was run, and 20 if "
    "Algorithm 1 was, with 256 rows and 64 dimensions. The view Conventions of the loss family converts it."
)
GCL_HELP = (
    "The published weight of GCL at tau 1 is 0.1. That is 0.1 on our scale if the paper's formula was run, and 0.1 times the "
    "dimensions of z if the authors' notebook was."
)
GCL = ("gcl",)
OFFERED = ("linear_accuracy", "knn_accuracy", "online_accuracy")


def compares_heads(entry: Entry) -> bool:
    """Whether a study varies the depth of the head over several losses."""
    if not entry.varies("head_layers"):
        return False
    return len({run.objective for run in entry.definition.expand()}) > 1


def _weight(label: str, key: str, weights: list[float], usual: int, help: str) -> float | None:
    """Choose one of the weights that some losses were run with; None without any. A single weight is not asked for."""
    if len(weights) < 2:
        return weights[0] if weights else None
    return st.segmented_control(
        label,
        weights,
        default=weights[usual],
        required=True,
        key=key,
        bind="query-params",
        format_func=lambda weight: f"{weight:g}",
        help=help,
    )


st.title("Priors and heads", help=help_text("swd", "projection_head"))
st.markdown(
    "Each loss of the family asks for another distribution of the embedding. The paper claims that their differences vanish "
    "with a deeper projection head. **Does the choice still matter here?**"
)
found = studies.entries(compares_heads)
if not found:
    st.warning("No study of heads and losses was found. The definitions lie in data/studies.", icon=":material/search_off:")
    st.stop()

controls = st.container(horizontal=True, vertical_alignment="bottom")
with controls:
    entry = studies.choose(found, "pri_study", favourite="priors-heads-mnist-5k", help=studies.ORIGIN_HELP, width=280)
address.show_notices()
state = live.watch(entry, "pri")
runs = studies.table(entry)
if not (runs["status"] == "finished").any():
    if not state.active and state.status != "empty":
        st.info("No run of this study has finished, so there is nothing to compare yet.", icon=":material/bar_chart:")
    st.stop()

with controls:
    by_name = {METRICS[key].name: key for key in OFFERED}
    address.check("pri_metric", list(by_name), METRICS["linear_accuracy"].name)
    metric = by_name.get(
        st.segmented_control(
            "Accuracy",
            list(by_name),
            default=METRICS["linear_accuracy"].name,
            required=True,
            key="pri_metric",
            bind="query-params",
            help=help_text(*OFFERED),
        ),
        "linear_accuracy",
    )
    swd = _weight("SWD lambda", "pri_lam", measured_weights(runs, PRIOR_OF), 0, LAM_HELP)
    gcl = _weight("GCL lambda", "pri_gcl", measured_weights(runs, GCL), -1, GCL_HELP)
    zoom = st.toggle("Zoom to data", True, key="pri_zoom", bind="query-params", help="The axis shows 0 to 1 otherwise.")
address.show_notices()

wanted = at_weight(at_weight(runs, PRIOR_OF, swd), GCL, gcl)
lam_text = weights_text(swd, gcl)
stamp = f"{version(entry)} {sorted(Counter(runs['status']).items())}"
cells = kept(lambda: fold_heads(wanted, metric), "head cells", stamp, metric, lam_text)
claims = kept(lambda: claims_of(cells), "head claims", stamp, metric, lam_text)
st.markdown(verdicts(cells, claims, metric))
if note := gcl_reading(runs):
    st.caption(note)
dots(entry, wanted, cells, claims, metric, zoom=zoom, lam_text=lam_text, stamp=stamp)
heads_footer(entry, runs)
distribution(entry, wanted)
gaps(entry, runs, claims, metric, lam_text, stamp)
with st.expander("The numbers", icon=":material/table:"):
    st.dataframe(
        cells.drop(columns=["values", "seeds", "run_ids"]),
        hide_index=True,
        placeholder="–",
        alt="Mean and spread of the accuracy for each loss, depth and length of training.",
    )
with st.expander("Method", icon=":material/science:"):
    st.markdown(
        "After figure 1 of Chen, Luo, Li 2021, *Intriguing Properties of Contrastive Losses*, whose accuracies are not "
        "public: these are our own. At each depth the gap is the highest minus the lowest mean over losses; its interval "
        "resamples seeds. The differences *vanish* when the gap shrinks from the shallowest to the deepest head with an "
        "interval above zero, and at the deepest head the losses cannot be told apart (analysis of variance, p > 0.05) or "
        "differ by less than one percentage point. The three sliced Wasserstein losses share one lambda at a time. NT-Xent "
        "has tau 0.2, GCL tau 1, as published; the weights are chosen above, because their published scale is not known."
    )
if entry.origin == "results":
    with st.expander("Run this study here", icon=":material/play_arrow:"):
        live.run_button(entry, "pri_again", "Run here", help="Runs in its own process, also when this page is closed.")
