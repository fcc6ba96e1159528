"""A page's address as the very first request to a server.

Until `app.py` has run once, Streamlit takes the folder `pages` for its older kind of multipage app, does not find the page there,
and covers it with a "Page not found" that blocks every click. The same address loaded again is fine, so it is, by itself. This
happens to whoever opens a link, or has a page open, when the dashboard is started again.
"""

import streamlit as st

_reload = st.components.v2.component(
    "contrastive_lens_first_request",
    html="<p>Opening the page …</p>",
    js="export default function () { window.location.reload(); }",
)
_answered = False  # whether this server has run `app.py` before


def load_again_if_first(page: str) -> None:
    """Load the address again, and stop here, if it is the server's first and names a page.

    Args:
        page: Its path in the address; empty for the home page, which is found at once.
    """
    global _answered
    first, _answered = not _answered, True
    if first and page:
        _reload(key="first_request")
        st.stop()
