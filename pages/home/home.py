"""Home: what this shows, three measured results, and a first study of one's own."""

import streamlit as st

from core.glossary import help_text

# On the screen before the rest is imported: that takes most of a second when the server has just started.
st.title("Contrastive Lens")
st.markdown(
    "See what a contrastive loss really does to an encoder: what it learns, what it drops, and what its temperature decides.",
    help=help_text("nt_xent", "representation", "temperature"),
)

from pages.parts import studies  # noqa: E402
from pages.parts.home.first_run import first_run  # noqa: E402
from pages.parts.home.thumbnails import thumbnails  # noqa: E402
from pages.parts.home.upload import upload_step  # noqa: E402

thumbnails(studies.entries(lambda entry: entry.varies("bits") and entry.origin != "defined"))
first_run()
upload_step()
