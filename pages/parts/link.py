"""Copy link: the address of the view as it is now, in the clipboard with one click."""

import streamlit as st

HTML = '<button type="button"><span aria-hidden="true"></span><span class="text" aria-live="polite"></span></button>'
CSS = """
button { font: inherit; font-size: 0.9rem; width: 100%; min-height: 2.4rem; padding: 0.25rem 0.75rem; cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, var(--st-base-radius)); }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); outline: none; }
input { width: 100%; font: inherit; font-size: 0.85rem; margin-top: 0.4rem; padding: 0.3rem; color: inherit; background: inherit;
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); }
"""
# Parameters that are not in the address, because a default stands for them here, are added: elsewhere the default may differ.
JS = """
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button"), text = parentElement.querySelector(".text");
  text.textContent = data.label;
  button.onclick = async () => {
    const url = new URL(window.location.href);
    for (const [name, value] of Object.entries(data.add))
      if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    parentElement.querySelector("input")?.remove();
    try {
      await navigator.clipboard.writeText(url.href);
      text.textContent = "Link copied";
      setTimeout(() => { text.textContent = data.label; }, 2000);
    } catch {
      const field = document.createElement("input");
      field.value = url.href;
      field.readOnly = true;
      field.setAttribute("aria-label", "The link");
      button.after(field);
      field.select();
      text.textContent = "Copy it from here";
    }
  };
}
"""

_button = st.components.v2.component("contrastive_lens_copy_link", html=HTML, css=CSS, js=JS)


def copy_link(key: str, **add: str | None) -> None:
    """A button that puts the address of this view into the clipboard.

    Args:
        key: Unique on the page.
        add: Parameters that the link names even where the address leaves them to a default, such as the study.
    """
    _button(key=key, data={"label": "Copy link", "add": {name: value for name, value in add.items() if value}})
