"""Router and frame of the dashboard: `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from pages.parts import address, refused
from pages.parts.first_request import load_again_if_first

ICON = Path(__file__).parent / "data" / "icon.png"  # a material symbol would be fetched from the network

st.set_page_config(page_title="Contrastive Lens", page_icon=ICON, layout="wide", initial_sidebar_state=232)

# Group -> pages: file, title, icon. A page's address is its file name.
PAGES = {
    "": [("pages/home/home.py", "Home", "home")],
    "Understand": [
        ("pages/understand/temperature.py", "Temperature", "device_thermostat"),
        ("pages/understand/infonce.py", "InfoNCE & relatives", "compare_arrows"),
        ("pages/understand/loss_family.py", "Loss family", "hub"),
        ("pages/understand/tour.py", "Guided tour", "tour"),
    ],
    "Experiments": [
        ("pages/experiments/tau_lambda.py", "Tau-lambda map", "grid_on"),
        ("pages/experiments/priors_heads.py", "Priors and heads", "layers"),
        ("pages/experiments/feature_suppression.py", "Feature suppression", "visibility_off"),
        ("pages/experiments/runs.py", "Runs", "table_rows"),
    ],
    "Checkpoints": [
        ("pages/checkpoints/inspect.py", "Inspect", "biotech"),
        ("pages/checkpoints/compare.py", "Compare", "compare"),
    ],
    "Present": [
        ("pages/present/report.py", "Report", "article"),
        ("pages/present/show.py", "Presentation", "slideshow"),
    ],
}

navigation = st.navigation(
    {
        group: [
            st.Page(path, title=title, icon=f":material/{icon}:", default=path.endswith("/home.py"))
            for path, title, icon in pages
        ]
        for group, pages in PAGES.items()
    },
    position="hidden" if "present" in st.query_params else "sidebar",  # in presentation mode nothing stands beside the figure
)
load_again_if_first(navigation.url_path)
address.tidy()
refused.begin(navigation.url_path)
notices = st.container()
with notices:
    address.show_notices()
navigation.run()
refused.end()
with notices:
    address.show_notices()
