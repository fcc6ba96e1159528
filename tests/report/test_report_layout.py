"""Sizes for slides and papers: text never below the size that is promised, names and ticks that do not touch, pure functions."""

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.cka import cka_matrix
from core.figures.playback import play_controls
from core.figures.theme import DARK, LIGHT, end_label, style
from core.report.legend import Entry, entries, rows
from core.report.presets import PRESETS
from core.report.recolor import patch, recolored
from core.report.relay import is_line_name, relay, title_parts, without_title
from core.report.richtext import balanced, coloured_html, line_width, plain, text_width, words, wrap
from core.report.scale import scaled
from core.report.sheet import compose, lay_out
from tests.report.conftest import ALONE, SHOWN

SLIDE, SINGLE, DOUBLE = (PRESETS[name] for name in ("slide", "single", "double"))
PLOT = '<svg width="1" height="1"><g/></svg>'


def lines(names=("tau 0.05", "tau 0.1"), title="A takeaway") -> go.Figure:
    fig = go.Figure()
    for place, name in enumerate(names):
        color = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")[place]
        fig.add_scatter(
            x=[0, 1], y=[place, place + 0.1], name=name, mode="lines+markers", line=dict(color=color), showlegend=False
        )
        end_label(fig, 1, place + 0.1, name, color)
    style(fig, LIGHT, title=title, subtitle="MNIST-5k, 3 seeds")
    return fig.update_yaxes(range=[0, 3], title_text="Accuracy").update_xaxes(range=[0, 1])


def test_a_slide_has_the_shape_of_a_screen_and_text_of_14_points():
    sheet = lay_out(lines(), SLIDE, provenance="study · 3 runs")
    assert sheet.pixels == (1920, 1080)
    assert sheet.inches == pytest.approx((40 / 3, 7.5))
    assert sheet.text_points == pytest.approx(14)


@pytest.mark.parametrize(("preset", "width"), [(SINGLE, 3.3), (DOUBLE, 6.9)])
def test_a_paper_has_the_width_of_its_column_and_text_of_8_points(preset, width):
    sheet = lay_out(lines(), preset, provenance="study · 3 runs")
    assert sheet.inches[0] == width and sheet.text_points == pytest.approx(8)
    assert f'width="{width:.4f}in"' in compose(sheet, PLOT)


def test_title_subtitle_and_provenance_are_drawn_where_they_belong():
    slide = compose(lay_out(lines(), SLIDE, provenance="how it was made", alt="Two lines & a dot"), PLOT)
    assert "A takeaway" in slide and "MNIST-5k, 3 seeds" in slide and "how it was made" in slide
    assert "<title>Two lines &amp; a dot</title>" in slide
    paper = compose(lay_out(lines(), SINGLE, provenance="how it was made"), PLOT)
    assert "A takeaway" not in paper and "how it was made" in paper
    assert "A takeaway" in compose(lay_out(lines(), SINGLE, heading="full"), PLOT)
    half = compose(lay_out(lines(), SLIDE, heading="subtitle"), PLOT)
    assert "A takeaway" not in half and "MNIST-5k" in half


def test_a_figure_is_left_as_it_was():
    fig = lines()
    before = fig.to_json()
    for preset in PRESETS.values():
        lay_out(fig, preset)
    scaled(fig, 2)
    without_title(fig)
    assert fig.to_json() == before


def test_nothing_to_press_is_printed():
    """Play buttons and sliders used to stay in pictures."""
    fig = lines().update_layout(play_controls(LIGHT, 3, "step"))
    figure = lay_out(fig, SLIDE).figure
    assert not figure.layout.updatemenus and not figure.layout.sliders and len(fig.layout.sliders) == 1


def test_long_names_become_a_legend_where_they_would_take_the_plot():
    fig = lines(("NT-Xent, tau 0.05, batch size 250", "NT-Xent, tau 0.1, batch size 250"))
    narrow = relay(fig, SINGLE, 382)
    assert [entry.name for entry in narrow.legend] == ["NT-Xent, tau 0.05, batch size 250", "NT-Xent, tau 0.1, batch size 250"]
    assert not any(is_line_name(note) for note in narrow.figure.layout.annotations)
    assert [entry.color for entry in narrow.legend] == ["#0072B2", "#E69F00"]
    wide = relay(fig, DOUBLE, 800)
    assert wide.legend == [] and sum(map(is_line_name, wide.figure.layout.annotations)) == 2


def test_lines_stay_apart_without_colour_on_paper():
    drawn = relay(lines(("a", "b", "c", "d")), SINGLE, 382).figure
    assert len({trace.marker.symbol for trace in drawn.data}) == 4
    assert {trace.marker.symbol for trace in relay(lines(), SLIDE, 787).figure.data} == {None}


@pytest.mark.parametrize("preset", [SINGLE, DOUBLE, SLIDE])
def test_names_are_moved_apart_by_the_height_of_a_line(preset):
    fig = lines(("a", "b", "c", "d"))
    for note, y in zip(fig.layout.annotations, (1.0, 1.01, 1.02, 1.03), strict=True):
        note.y = y
    sheet = lay_out(fig, preset, provenance="x")
    heights = sorted(float(note.y) for note in sheet.figure.layout.annotations if is_line_name(note))
    pixels = np.diff(heights) / 3 * (sheet.plot_height - 80)  # the panel is lower than the plot by at most this
    assert len(heights) == 4 and (pixels > 11).all()


def test_names_of_two_lines_take_the_room_of_two():
    fig = lines(("a<br>rank 1", "b<br>rank 2", "c<br>rank 3"))
    for note in fig.layout.annotations:
        note.y = 1.0
    sheet = lay_out(fig, SLIDE, provenance="x")
    heights = sorted(float(note.y) for note in sheet.figure.layout.annotations if is_line_name(note))
    pixels = np.diff(heights) / 3 * (sheet.plot_height - 80)
    assert len(heights) == 3 and (pixels > 22).all()


def test_tick_labels_that_would_touch_are_left_out_and_the_last_stays():
    fig = lines()
    fig.update_xaxes(tickvals=list(range(41)), ticktext=[f"value {n}" for n in range(41)], range=[0, 40])
    kept = relay(fig, SINGLE, 382).figure.layout.xaxis
    assert 2 < len(kept.tickvals) < 9 and kept.ticktext[-1] == "value 40" and kept.tickangle == 0
    places = np.asarray(kept.tickvals) / 40 * 280
    assert np.diff(places).min() > text_width("value 10", 13)


def test_slanted_names_all_stay_and_stay_slanted():
    names = [f"an encoder with a long name, {place}" for place in range(5)]
    figure = cka_matrix(np.eye(5), names, LIGHT)
    axis = relay(figure, PRESETS["single"], 480).figure.layout.xaxis
    assert axis.tickangle == figure.layout.xaxis.tickangle == -35
    assert len(axis.ticktext) == 5


def test_small_text_is_raised():
    fig = lines()
    fig.add_annotation(x=0.5, y=1, text="chance", font=dict(size=9), showarrow=False)
    for preset in (SINGLE, SLIDE):
        sizes = [note.font.size for note in relay(fig, preset, 380).figure.layout.annotations]
        assert min(sizes) >= preset.smallest_px


def test_many_panels_in_a_narrow_column_shrink_as_a_whole_and_say_so():
    from plotly.subplots import make_subplots

    fig = make_subplots(cols=3)
    for column in (1, 2, 3):
        fig.add_scatter(x=[0, 1], y=[0, 1], row=1, col=column)
    style(fig, LIGHT, title="Three")
    sheet = lay_out(fig, SINGLE)
    assert sheet.inches[0] == 3.3 and 3 < sheet.text_points < 8
    assert lay_out(fig, DOUBLE).text_points == pytest.approx(8)


def test_legend_rows_fit_the_width():
    shown = [Entry(f"an entry {n}", "#000000") for n in range(9)]
    placed = rows(shown, 380, 13)
    assert [entry for row in placed for entry in row] == shown
    assert 2 < len(placed) < 9
    for row in placed:
        assert sum(24 + text_width(entry.name, 13) for entry in row) + 18 * (len(row) - 1) <= 380


def test_legend_entries_are_those_of_plotly():
    fig = go.Figure()
    fig.add_scatter(x=[1], y=[1], name="dots", mode="markers", marker=dict(color="#111111"))
    fig.add_scatter(x=[1], y=[1], name="line", mode="lines", line=dict(color="#222222", dash="dash"))
    fig.add_scatter(x=[1], y=[1], name="hidden", showlegend=False)
    fig.add_bar(x=[1], y=[1], name="bar", marker=dict(color="#333333"))
    assert entries(fig) == [
        Entry("dots", "#111111", line=False, symbol="circle"),
        Entry("line", "#222222", line=True, dash="dash"),
        Entry("bar", "#333333", line=False, filled=True),
    ]
    assert entries(fig.update_layout(showlegend=False)) == []


def test_widths_agree_with_the_metrics_of_helvetica():
    """Adobe's tables: 'Hamburg' is 722 + 556 + 833 + 556 + 556 + 333 + 556 thousandths."""
    assert text_width("Hamburg", 1000) == pytest.approx(4112)
    assert text_width("", 12) == 0


def test_markup_is_read_as_words_with_their_colours():
    found = words("<b>Bold</b> and <span style='color:#D55E00;font-size:13px'>● red</span> x<sub>2</sub><br>next")
    assert [(word.text, word.color, word.bold) for word in found] == [
        ("Bold", None, True), ("and", None, False), ("●", "#D55E00", False), ("red", "#D55E00", False),
        ("x2", None, False), ("", None, False), ("next", None, False),
    ]  # fmt: skip
    assert plain("a <i>b</i><br>c &amp; d") == "a b c & d"
    assert words("<span style='color:red;background:url(http://x)'>t</span>")[0].color == "red"
    assert words("<span style='color:url(http://x)'>t</span>")[0].color is None


def test_lines_are_broken_within_the_width_and_balanced():
    text = words("the quick brown fox jumps over the lazy dog and runs away")
    for width in (60, 120, 240):
        assert all(line_width(line, 13) <= width or len(line) == 1 for line in wrap(text, width, 13))
    even = [line_width(line, 13) for line in balanced(text, 200, 13)]
    assert len(even) == len(wrap(text, 200, 13)) and min(even) > 0.6 * max(even)


@pytest.mark.parametrize("name", [*SHOWN, *ALONE])
def test_every_figure_fits_every_size(name, draw):
    made = draw(name, LIGHT)
    for preset in PRESETS.values():
        sheet = lay_out(made.figure, preset, provenance=made.provenance)
        assert sheet.plot_height >= 120 and sheet.plot_width > 300
        assert sheet.text_points > (11 if preset is SLIDE else 5)
        assert title_parts(sheet.figure) == ("", "") and sheet.figure.layout.showlegend is False


def test_two_themes_differ_by_a_patch():
    light = {"a": {"color": "#FFFFFF"}, "list": [1, {"x": 2}], "gone": 1}
    dark = {"a": {"color": "#12161C"}, "list": [1, {"x": 3}], "gone": 1}
    assert patch(light, dark) == [[["a", "color"], "#12161C"], [["list", 1, "x"], 3]]
    assert patch(light, {**dark, "new": 0}) == [[[], {**dark, "new": 0}]]
    assert patch(light, light) == []


def test_colours_go_from_one_theme_to_the_other_and_back():
    from core.figures.text import readable

    fig = style(go.Figure(), DARK, title="t", subtitle="s").to_plotly_json()
    light = recolored(fig, DARK, LIGHT)
    assert light["layout"]["paper_bgcolor"] == LIGHT.paper and LIGHT.muted in light["layout"]["title"]["text"]
    assert recolored(light, LIGHT, DARK)["layout"]["paper_bgcolor"] == DARK.paper
    note = {"font": {"color": readable("#0072B2", DARK)}, "marker": {"color": "#0072B2"}}
    assert recolored(note, DARK, LIGHT) == {"font": {"color": "#0072B2"}, "marker": {"color": "#0072B2"}}
    white = {"textfont": {"color": "#FFFFFF"}, "line": {"color": "#FFFFFF"}}
    assert recolored(white, LIGHT, DARK) == {"textfont": {"color": "#FFFFFF"}, "line": {"color": DARK.paper}}


def test_everything_but_the_data_grows():
    fig = lines()
    fig.data[0].marker.size = [4, 6]
    large = scaled(fig, 2)
    assert large.layout.xaxis.tickfont.size == 2 * fig.layout.xaxis.tickfont.size
    assert large.layout.margin.t == 2 * fig.layout.margin.t
    assert large.layout.annotations[0].xshift == 16 and large.layout.annotations[0].font.size == 26
    assert tuple(large.data[0].marker.size) == (8, 12)
    assert "font-size:26px" in large.layout.title.text
    assert large.data[0].y == fig.data[0].y and large.layout.height == fig.layout.height


def test_coloured_html_keeps_colours_and_lets_no_markup_through():
    text = "n &lt; 5 · <span style='color:#0072B2'>● <b>a</b> one</span> · <span style='color:red;x:url(y)'>\"two\"</span>"
    assert coloured_html(text) == (
        'n &lt; 5 · <span style="color:#0072B2">● a one</span> · <span style="color:red">&quot;two&quot;</span>'
    )
    dark = text.replace("#0072B2", "#66AAD1")
    assert '<span class="mark" style="--light:#0072B2;--dark:#66AAD1">● a one</span>' in coloured_html(text, dark)
    assert '--light:#0072B2;--dark:#0072B2"' in coloured_html(text, "another text")
    assert coloured_html("") == ""
