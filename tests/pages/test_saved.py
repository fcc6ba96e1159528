"""What the save menu under a chart says of its making: measured figures name their runs and dates, not today and this machine."""

import pytest

from core.studies import Store
from core.studies.study import StudySpec
from pages.parts import chart, save
from tests import fixtures
from tests.map_runs import fill_heads, fill_map

MADE = "2026-11-29"  # when the runs of the fixtures ended


@pytest.fixture
def menus(monkeypatch) -> dict[str, save.Save]:
    """What each chart gives to its menu, by key."""
    found = {}
    monkeypatch.setattr(chart, "save_menu", lambda figure, theme, *, key, alt, save: found.__setitem__(key, save))
    return found


def line(menu: save.Save) -> str:
    return menu.provenance() if callable(menu.provenance) else menu.provenance


def assert_made(menus: dict[str, save.Save], *keys: str) -> None:
    assert set(keys) <= set(menus), sorted(menus)
    for key in keys:
        assert MADE in line(menus[key]), (key, line(menus[key]))


def test_the_suppression_charts_and_those_of_a_run(filled, open_page, menus):
    runs = Store(filled.results).table("randbit-mnist-5k")
    run = runs[(runs["seed"] == 0) & (runs["bits"] == 10)]["run_id"].iloc[0]
    open_page("pages/experiments/feature_suppression.py", study="results/randbit-mnist-5k", run=run)
    assert_made(menus, "sup_left", "sup_right", "sup_curves", "sup_embedding")
    assert "150 runs" in line(menus["sup_left"]) and "3 runs" in line(menus["sup_curves"])
    assert "1 run, seed 0" in line(menus["sup_embedding"])
    shown = StudySpec.from_text(menus["sup_embedding"].settings())
    assert [each.run_id for each in shown.expand()] == [run]  # the settings make that run again, not another


def test_a_map_and_its_open_cell(stores, open_page, menus):
    fill_map(stores.results, fixtures.study("tau-lambda-mnist-5k"))
    open_page("pages/experiments/tau_lambda.py", map_cell="1,0.1")
    assert_made(menus, "map_chart", "map_cell_curves", "map_plane")


def test_priors_and_heads(stores, open_page, menus):
    fill_heads(stores.results, fixtures.study("priors-heads-mnist-5k"))
    open_page("pages/experiments/priors_heads.py")
    assert_made(menus, "pri_dots", "pri_gaps")


@pytest.mark.parametrize(
    ("name", "page", "address", "keys"),
    [
        ("temperature-mnist-5k", "temperature", {"tmp_view": "Across runs"}, ("tmp_metrics", "tmp_plane", "tmp_dimensions")),
        ("temperature-mnist-5k", "temperature", {"tmp_view": "Real embedding"}, ("tmp_shares",)),
        ("temperature-mnist-5k", "temperature", {"tmp_view": "Hard and false"}, ("tmp_hard_false", "tmp_groups")),
        ("moco-queue-mnist-5k", "infonce", {"nce_view": "Queue study"}, ("nce_queue_size",)),
    ],
)
def test_teaching_views_of_measured_runs(stores, open_page, menus, name, page, address, keys):
    fixtures.fill(stores.results, fixtures.study(name))
    open_page(f"pages/understand/{page}.py", **address)
    assert_made(menus, *keys)


def test_published_numbers_name_their_paper(stores, open_page, menus):
    fixtures.fill(stores.results, fixtures.study("temperature-mnist-5k"))
    open_page("pages/understand/temperature.py", tmp_view="Across runs")
    assert "Chen" in line(menus["tmp_simclr"]) and "2020" in line(menus["tmp_simclr"])


def test_curves_on_the_runs_page(filled, open_page, menus):
    runs = Store(filled.results).table("randbit-mnist-5k")["run_id"]
    open_page("pages/experiments/runs.py", study="results/randbit-mnist-5k", compare=f"{runs[0]},{runs[1]}")
    assert_made(menus, "runs_curves")


def test_compared_encoders(filled, open_page, menus):
    open_page("pages/checkpoints/compare.py")
    assert_made(menus, "cmp_plane", "cmp_cka", "cmp_spectra")


def test_what_is_computed_on_the_spot_names_no_study(stores, open_page, menus):
    open_page("pages/understand/temperature.py")
    assert menus and all(menu is save.HERE for menu in menus.values())
