"""What a test reads off a page that AppTest has opened."""

from streamlit.testing.v1 import AppTest

HOME, SUPPRESSION, RUNS = "pages/home/home.py", "pages/experiments/feature_suppression.py", "pages/experiments/runs.py"


def texts(app: AppTest) -> str:
    """Everything a visitor can read, in one string."""
    kinds = (app.title, app.markdown, app.caption, app.info, app.warning, app.error, app.subheader)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def charts(app: AppTest) -> list[str]:
    """The figures that are drawn, as JSON."""
    return [chart.proto.spec for chart in app.get("plotly_chart")]
