"""Compare: up to six encoders, or the epochs of one run, side by side."""

import streamlit as st

from core.comparison import short_names
from core.glossary import help_text
from pages.parts import address
from pages.parts.checkpoint_compare.candidates import candidates, choose, elsewhere, encoder, made, source, unreadable
from pages.parts.checkpoint_compare.charts import choose_space, numbers, pictures, plane_and_likeness, spectra
from pages.parts.checkpoint_compare.epochs import EMPTY, epochs, with_epochs
from pages.parts.hypersphere.uniformity import uniformity
from pages.parts.hypersphere.views import hypersphere

ONE_OF = "encoder"  # in the address
SIDE, EPOCHS, ONE = "Side by side", "Epoch by epoch", "One embedding"

st.title("Compare", help=help_text("alignment", "uniformity", "cka"))
st.markdown("The same test images, seen by different encoders. **Who spreads them over the sphere, who keeps classes together?**")
found = candidates()
if not found:
    st.info(
        "Encoders will be here once there is a finished run with a stored embedding, or an inspected checkpoint.",
        icon=":material/compare:",
    )
    st.page_link("pages/experiments/feature_suppression.py", label="Train the first ones", icon=":material/play_arrow:")
    st.stop()

address.check("cmp_view", [SIDE, EPOCHS, ONE], SIDE)
view = st.segmented_control(
    "Show", [SIDE, EPOCHS, ONE], default=SIDE, required=True, key="cmp_view", bind="query-params", label_visibility="collapsed"
)
address.show_notices()

if view == EPOCHS:
    runs = with_epochs(found)
    if runs:
        epochs(runs)
    else:
        st.info(EMPTY, icon=":material/animation:")
elif view == ONE:
    by_id = {candidate.id: candidate for candidate in found}
    elsewhere(ONE_OF, by_id)
    chosen = st.selectbox(
        "Encoder", list(by_id), index=address.place(ONE_OF, list(by_id)), format_func=lambda name: by_id[name].label,
        key="cmp_one", persist_state="session", width=520, on_change=address.keep, args=(ONE_OF, "cmp_one"),
    )  # fmt: skip
    shown = source(by_id[chosen])
    if shown is None:
        st.warning(unreadable([by_id[chosen]]), icon=":material/broken_image:")
    else:
        hypersphere(shown, "cmp_sphere")
        uniformity(shown)
        st.caption(shown.provenance)
else:
    chosen = choose(found)
    address.show_notices()
    found_in = {candidate.id: encoder(candidate) for candidate in chosen}
    loaded = [item for item in found_in.values() if item is not None]
    if lost := [candidate for candidate in chosen if found_in[candidate.id] is None]:
        st.warning(unreadable(lost), icon=":material/broken_image:")
    elif not chosen:
        st.info("Choose at least one encoder.", icon=":material/compare:")
    if not loaded:
        st.stop()
    names = short_names([item.name for item in loaded])
    loaded = [item._replace(name=name) for item, name in zip(loaded, names, strict=True)]
    stamp = " ".join(f"{candidate.id} {candidate.stamp}" for candidate in chosen)
    line = made([candidate for candidate in chosen if found_in[candidate.id] is not None])
    pictures(loaded, stamp)
    space = choose_space(loaded)
    plane_and_likeness(loaded, space, stamp, line)
    numbers(loaded)
    spectra(loaded, space, stamp, line)
    with st.expander("Method", icon=":material/science:"):
        st.markdown(
            "All numbers are of test images without augmentation, alignment apart, which is measured on two augmented views. "
            "Runs keep up to 1,000 of them, shipped results 500. Uniformity can only be compared between encoders of equal "
            "dimension, so the lines show the optimum of each. CKA does not see rotation or scale. The spectrum is that of the "
            "covariance of unit rows, relative to its largest value."
        )
