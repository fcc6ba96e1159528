"""Compare: encoders side by side, the epochs of one run, one embedding with what was lassoed."""

import numpy as np
import pytest

from core.studies.store import Store
from pages.parts.hypersphere import picked
from pages.parts.hypersphere.source import Source
from tests import fixtures
from tests.flat_runs import STUDY, fill_flat
from tests.inspections import made_up
from tests.pages.visit import charts, texts

PAGE = "pages/checkpoints/compare.py"


@pytest.fixture
def flat(stores):
    """The study of flat embeddings among the shipped results."""
    fill_flat(stores.results)
    return stores


def test_the_flat_study_is_compared_at_first_and_the_address_chooses(flat, open_page):
    app = open_page(PAGE)
    chosen = app.multiselect(key="cmp_encoders").value
    assert len(chosen) == 5 and all(STUDY in name for name in chosen)
    drawn = charts(app)
    assert len(drawn) == 4 and "NT-Xent" in drawn[0] and "optimum, d = 2" in drawn[1]
    assert app.dataframe[0].value["encoder"].tolist()[0] == "NT-Xent"
    two = open_page(PAGE, encoders=f"{chosen[1]},{chosen[0]},run:results/gone/000000000000")
    assert two.multiselect(key="cmp_encoders").value == [chosen[1], chosen[0]]
    assert "names encoders that are not here" in texts(two)


def test_nothing_chosen_says_so(flat, open_page):
    app = open_page(PAGE)
    app.multiselect(key="cmp_encoders").set_value([]).run()
    assert not app.exception and "Choose at least one encoder" in texts(app) and not charts(app)


def test_an_encoder_that_cannot_be_read_is_named(stores, open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("CONTRASTIVE_LENS_SAMPLES", str(tmp_path / "none"))
    root = stores.runs / "inspections"
    broken, sound = made_up.write(root, name="broken_one.pth"), made_up.write(root, name="sound.pth", seed=1)
    file = root / broken / "arrays.npz"
    file.write_bytes(file.read_bytes()[:20_000])
    said = "**Checkpoint: broken_one.pth** cannot be read: the result on disk is gone or damaged. Run the inspection again"
    both = open_page(PAGE, encoders=f"inspection:{broken},inspection:{sound}")
    assert said in both.warning[0].value and charts(both)
    alone = open_page(PAGE, encoders=f"inspection:{broken}")
    assert said in alone.warning[0].value and not charts(alone) and "Choose at least one encoder" not in texts(alone)
    one = open_page(PAGE, cmp_view="One embedding")
    one.selectbox(key="cmp_one").set_value(f"inspection:{broken}").run()
    assert said in one.warning[0].value and not one.exception


def test_epochs_play_with_aligned_axes(flat, open_page):
    app = open_page(PAGE, cmp_view="Epoch by epoch")
    drawn = charts(app)
    assert "epochs 0 to 15 · axes aligned" in drawn[0] and '"frames"' in drawn[0]
    assert app.table[0].value["Epoch"].tolist() == ["0", "1", "15"]
    app.toggle(key="cmp_aligned").set_value(False).run()
    assert not app.exception and "axes as the encoder has them" in charts(app)[0]


def test_without_kept_epochs_it_says_how_to_keep_them(filled, open_page):
    app = open_page(PAGE, cmp_view="Epoch by epoch")
    assert "save_every" in texts(app) and not charts(app)


def test_one_embedding_shows_its_views_what_was_lassoed_and_the_tests(flat, open_page):
    app = open_page(PAGE, cmp_view="One embedding")
    assert "Are the points uniform on the sphere?" in texts(app) and len(charts(app)) == 1
    app.session_state["cmp_sphere_picked"] = [3, 5, 99_999]  # as a lasso would; images of another embedding do not count
    app.run()
    assert not app.exception and "**2 selected test images**" in texts(app)
    app.button(key="cmp_sphere_clear").click().run()
    assert "selected test image" not in texts(app)


def test_an_address_from_another_machine_restores_encoder_groups_and_selection(flat, open_page):
    """There the study was somebody's own; here it is shipped."""
    run = next(run for run in fixtures.study(STUDY, seeds=(0,)).expand() if run.head_dim == 3)
    view = {"sphere_view": "Hemispheres", "sphere_groups": "1,3", "sphere_picked": "5,3"}
    app = open_page(PAGE, cmp_view="One embedding", encoder=f"run:runs/{STUDY}/{run.run_id}", **view)
    assert app.selectbox(key="cmp_one").value == f"run:results/{STUDY}/{run.run_id}" and not app.info
    assert next(box for box in app.multiselect if box.label == "In colour").value == [1, 3]
    assert "**2 selected test images**" in texts(app) and '"heatmap"' in charts(app)[0]
    app.button(key="cmp_sphere_clear").click().run()
    assert "sphere_picked" not in app.query_params and "selected test image" not in texts(app)
    gone = open_page(PAGE, cmp_view="One embedding", encoder=f"run:runs/{STUDY}/000000000000", sphere_view="Nonsense")
    assert "names the encoder" in texts(gone) and "'Nonsense', which does not exist here" in texts(gone)


def test_the_address_of_a_comparison_names_its_encoders_even_by_default(flat, open_page):
    app = open_page(PAGE)
    named = app.query_params["encoders"]
    assert (named if isinstance(named, str) else named[0]).split(",") == app.multiselect(key="cmp_encoders").value
    away = open_page(PAGE, encoders=",".join(name.replace("run:results", "run:runs") for name in app.multiselect[0].value[:2]))
    assert away.multiselect(key="cmp_encoders").value == app.multiselect[0].value[:2] and not away.info


def test_the_export_holds_exactly_the_lassoed_rows(flat):
    run = fixtures.study(STUDY, seeds=(0,)).expand()[0]
    arrays = Store(flat.results).embedding(STUDY, run.run_id)
    source = Source("x", "NT-Xent", "", "made here", arrays, classes=tuple("abcdefghij"))
    table = picked.table(source, {7, 2, 150})
    assert table["index"].tolist() == [2, 7, 150] and list(table.columns) == ["index", "label", "class", "predicted", "z1", "z2"]
    np.testing.assert_allclose(table[["z1", "z2"]], arrays["z"][[2, 7, 150]], rtol=1e-6)
    assert table["class"].tolist() == ["c", "h", "a"]
