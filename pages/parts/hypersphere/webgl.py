"""Whether the visitor's browser can draw in three dimensions; it says so only when it cannot."""

import streamlit as st

HTML = "<span></span>"
JS = """
export default function ({ setStateValue }) {
  let context = null;
  try {
    const canvas = document.createElement("canvas");
    context = canvas.getContext("webgl2") || canvas.getContext("webgl");
  } catch { context = null; }
  if (!context) setStateValue("missing", true);
  else context.getExtension("WEBGL_lose_context")?.loseContext();
}
"""

_probe = st.components.v2.component("contrastive_lens_webgl", html=HTML, js=JS)


def has_webgl(key: str) -> bool:
    """True unless the browser has said that it has no WebGL; the answer comes one rerun after the first.

    Args:
        key: Unique on the page.
    """
    found = _probe(key=key, default={"missing": False}, on_missing_change=lambda: None, height=1)
    return not found.missing
