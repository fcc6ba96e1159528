"""Values of the address that a widget does not take are named, on every page in the same words; those it takes are not."""

import math

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.refused import means, spoken

TEMPERATURE, INFONCE, FAMILY = (f"pages/understand/{name}.py" for name in ("temperature", "infonce", "loss_family"))


@pytest.mark.parametrize(
    ("page", "asked", "said"),
    [
        (TEMPERATURE, {"tmp_tau": "abc"}, "tmp_tau the value 'abc', which does not exist here; showing '0.1' instead."),
        (TEMPERATURE, {"tmp_tau": "-1"}, "tmp_tau the value '-1', which does not exist here; showing '0.1' instead."),
        (TEMPERATURE, {"tmp_pos": "7"}, "tmp_pos the value '7', which"),
        (TEMPERATURE, {"tmp_crowd": "9999999"}, "tmp_crowd the value '9999999', which"),
        (
            TEMPERATURE,
            {"tmp_view": "Square"},
            "tmp_view the value 'Square', which does not exist here; showing 'One anchor' instead.",
        ),
        (
            INFONCE,
            {"nce_view": "Reference lines", "nce_ref_k": "77"},
            "nce_ref_k the value '77', which does not exist here; showing '255'",
        ),
    ],
)
def test_what_no_widget_takes_is_named_once(page, asked, said, stores, open_page):
    app = open_page(page, **asked)
    found = [box.value for box in app.info if "The address gives" in box.value]
    assert len(found) == 1 and said in found[0]
    app.run()
    assert not [box.value for box in app.info if "The address gives" in box.value]


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        (TEMPERATURE, {"tmp_tau": "0.1"}),
        (TEMPERATURE, {"tmp_tau": "0.5", "tmp_crowd": "252", "tmp_pos": "0.80", "utm_source": "mail"}),
        (TEMPERATURE, {"tmp_view": "Circle", "tmp_circle_anchor": "A", "tmp_circle_follow": "FALSE"}),
        (INFONCE, {"nce_view": "Reference lines", "nce_ref_k": "1,023"}),
        (INFONCE, {"nce_view": "Reference lines", "nce_ref_k": "255"}),
    ],
)
def test_what_a_widget_takes_or_nobody_knows_is_not_named(page, asked, stores, open_page):
    app = open_page(page, **asked)
    assert not [box.value for box in app.info if "The address" in box.value]


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["0.10"], 0.1), (["1,023"], 1023), (["→ 0"], 0.0), (["→ ∞"], math.inf), (["TRUE"], True), (["= tau"], "= tau"),
        (["0.05", "1"], [0.05, 1.0]),
    ],
)  # fmt: skip
def test_ways_of_writing_a_value(texts, value):
    assert means(texts, value)


@pytest.mark.parametrize(
    ("texts", "value"), [(["abc"], 0.1), (["1"], True), (["0.05"], [0.05, 1.0]), (["a"], "A"), (["nan"], 0.1)]
)
def test_what_means_something_else(texts, value):
    assert not means(texts, value)


def test_values_as_a_person_writes_them():
    assert [spoken(value) for value in (0.1, 252, True, math.inf, "Circle", [0.05, 1.0])] == [
        "0.1", "252", "on", "∞", "Circle", "0.05, 1",
    ]  # fmt: skip


def test_a_widget_that_was_moved_after_a_page_had_stopped_is_not_named():
    """The first run ends before the comparison; by the next one the address holds what the visitor chose since."""

    def page():
        import streamlit as st

        from pages.parts import address, refused

        refused.begin("page")
        st.slider("x", 0, 10, 3, key="x", bind="query-params")
        if st.checkbox("stop", True, key="stop"):
            st.stop()
        refused.end()
        address.show_notices()

    app = AppTest.from_function(page)
    app.query_params["x"] = "5"
    app.run()
    assert app.slider(key="x").value == 5
    app.slider(key="x").set_value(7)
    app.query_params["x"] = "7"  # as the browser has it then
    app.checkbox(key="stop").set_value(False).run()
    assert app.slider(key="x").value == 7 and not app.info and not app.exception
