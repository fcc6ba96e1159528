"""What a slide looks like on the screen: sizes that follow the window, a large table."""

from html import escape

import pandas as pd

ROWS, COLUMNS = 12, 9  # of a table that can be read from the last row

# Keys of our own containers only, so that a new version of Streamlit can break no more than sizes; the one exception, the
# header, then merely shows its menu again.
STYLE = """<style>
[data-testid="stHeader"] { display: none; }
.st-key-show_head { margin-top: -2.6rem; }
.st-key-show_head h1 { font-size: clamp(1.7rem, 2.4vw, 3rem); line-height: 1.15; margin: 0; padding: 0; font-weight: 650; }
.st-key-show_head p { font-size: clamp(1rem, 1.2vw, 1.5rem); margin: 0.2rem 0 0; opacity: 0.72; }
.st-key-show_stage { flex: 0 0 auto !important; height: calc(100vh - 13rem) !important; min-height: 20rem; overflow: hidden; }
body:has(.st-key-show_said) .st-key-show_stage { height: calc(100vh - 20rem) !important; }
.st-key-show_stage:has(.js-plotly-plot) > * { flex: 1 1 auto; }
.st-key-show_text { min-height: 100%; justify-content: center; }
.st-key-show_stage:has(.st-key-show_text) { overflow: auto; }
.st-key-show_text p, .st-key-show_text li { font-size: clamp(1.3rem, 1.9vw, 2.3rem); line-height: 1.45; }
.st-key-show_text h1, .st-key-show_text h2, .st-key-show_text h3 { font-size: clamp(1.7rem, 2.4vw, 3rem); }
.st-key-show_stage table { border-collapse: collapse; font-size: clamp(1rem, 1.35vw, 1.7rem); width: 100%; }
.st-key-show_stage th, .st-key-show_stage td { text-align: left; padding: 0.35em 0.7em; border-bottom: 1px solid #8884; }
.st-key-show_remote { position: absolute; width: 1px; height: 1px; overflow: hidden; opacity: 0; pointer-events: none; }
.st-key-show_said { max-height: 6.5rem; overflow: auto; }
.st-key-show_said p { font-size: 1.15rem; }
</style>"""


def table_html(frame: pd.DataFrame) -> str:
    """The first rows and columns of a table, and how many there are."""
    shown = frame.iloc[:ROWS, :COLUMNS]
    head = "".join(f"<th scope='col'>{escape(str(name))}</th>" for name in shown.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in shown.to_numpy())
    cut = []
    if len(shown) < len(frame):
        cut.append(f"{len(shown)} of {len(frame)} rows")
    if shown.shape[1] < frame.shape[1]:
        cut.append(f"{shown.shape[1]} of {frame.shape[1]} columns")
    said = f"<p>Showing {' and '.join(cut)}</p>" if cut else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{said}"
