"""Home: what this shows, three measured results, and a first study of one's own."""

import streamlit as st

from core.glossary import help_text
from pages.parts import studies
from pages.parts.home.first_run import first_run
from pages.parts.home.thumbnails import thumbnails
from pages.parts.home.upload import upload_step

st.title("Contrastive Lens")
st.markdown(
    "See what a contrastive loss really does to an encoder: what it learns, what it drops, and what its temperature decides.",
    help=help_text("nt_xent", "representation", "temperature"),
)
thumbnails(studies.entries(lambda entry: entry.varies("bits") and entry.origin != "defined"))
first_run()
upload_step()
