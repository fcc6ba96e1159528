"""The guided tour: eight steps, each with a picture, a question, and an answer that its own numbers give."""

import json
import math
import re

import numpy as np
import pytest

from core.losses.softmax import effective_number, push_shares
from pages.parts.tour.steps import SCORES, STEPS
from tests.pages.visit import charts, texts

PAGE = "pages/understand/tour.py"


def answer(app) -> str:
    """The text inside the expander."""
    return app.expander[0].markdown[0].value


@pytest.mark.parametrize("number", range(1, 9))
def test_each_step_has_a_picture_a_question_and_an_answer(stores, open_page, number):
    app = open_page(PAGE, tour_step=str(number))
    step = STEPS[number - 1]
    assert f"{number} of 8. {step.title}" in texts(app)
    assert f"**{step.question}**" in texts(app) and step.question.endswith("?")
    assert len(charts(app)) == 1
    assert not app.expander[0].proto.expanded
    assert len(answer(app)) > 80


def test_next_and_back_stay_within_the_tour(stores, open_page):
    app = open_page(PAGE)
    assert app.button(key="tour_back").disabled
    app.button(key="tour_next").click().run()
    assert "2 of 8." in texts(app)
    app.button(key="tour_back").click().run()
    assert "1 of 8." in texts(app)
    assert open_page(PAGE, tour_step="8").button(key="tour_next").disabled


def test_answers_are_true():
    """Every number in an answer, worked out again."""
    negatives = SCORES.all_negatives
    assert f"log 8 = {math.log(8):.3f}" in STEPS[0].answer()
    cold = STEPS[1].answer()
    tau = float(cold.split("From tau ")[1].split(" ")[0])
    assert push_shares(negatives, tau).max() > 0.9
    hot = STEPS[2].answer()
    tau = float(hot.split("From tau ")[1].split(" ")[0])
    assert effective_number(negatives, tau) >= 128 > effective_number(negatives, tau * 0.75)
    assert "a factor of 0.50" in STEPS[3].answer()
    assert f"{math.ceil(math.exp(-5 * np.log(1 - 0.81))):,} candidates" in STEPS[7].answer()


def test_what_the_first_and_the_last_question_ask_for_stands_in_the_picture(stores, open_page):
    """Neither the cost of guessing nor a number of candidates beyond the axis could be read off."""
    first = json.loads(charts(open_page(PAGE, tour_step="1"))[0])["layout"]
    assert f"= {math.log(8):.3f}" in first["xaxis2"]["title"]["text"]
    last = json.loads(charts(open_page(PAGE, tour_step="8"))[0])["layout"]
    reported = re.search(r"[^<>]+ report [\d.]+", last["title"]["text"])[0]
    assert STEPS[7].answer().startswith(f"{reported.split(' report ')[1]} of {reported.split(' ')[0]} nats.")
    assert "1,024 candidates" in STEPS[7].question and "1,024 candidates" in reported
    assert any(note["text"] == "log 1,024" for note in last["annotations"])


def test_the_far_group_has_no_arrow_at_a_small_tau_and_some_at_a_large_one(stores, open_page):
    """What the answer of step 6 claims about the picture."""
    app = open_page(PAGE, tour_step="6")

    def tails(app) -> set[int]:
        """Directions in degrees; the arrows start outside the circle."""
        notes = [note for note in json.loads(charts(app)[0])["layout"]["annotations"] if "ay" in note]
        return {round(math.degrees(math.atan2(note["ay"], note["ax"]))) % 360 for note in notes}

    far = {200, 215, 228, 246, 255, 280}
    assert not tails(app) & far
    app.select_slider(key="tour_circle_tau").set_value(5.0).run()
    assert len(tails(app) & far) >= 4


def test_every_step_leads_to_more(stores, open_page):
    app = open_page(PAGE, tour_step="5")
    link = app.page_link[0]
    assert link.label == "Try more: Hard and false" and "tmp_view=Hard" in link.proto.query_string
