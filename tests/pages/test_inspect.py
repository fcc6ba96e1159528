"""The page Inspect: every tab, every source, and whatever can be wrong, without a traceback and without torch."""

import hashlib
import json
import shutil
import time

import numpy as np
import pytest
from safetensors.numpy import save_file

from core.checkpoints.uploads import UploadStore
from core.inspections import samples
from core.inspections.spec import InspectionSpec
from core.inspections.store import InspectionStore
from tests import fixtures
from tests.inspections import made_up
from tests.pages.visit import charts, texts

INSPECT = "pages/checkpoints/inspect.py"
TABS = {
    "Summary": 0, "Hypersphere": 1, "Spectrum": 1, "Similarities": 1, "Neighbours": 2, "Confusion": 1, "Competing features": 2,
}  # fmt: skip


@pytest.fixture
def no_samples(monkeypatch, tmp_path):
    """A copy that came without sample checkpoints."""
    monkeypatch.setenv("CONTRASTIVE_LENS_SAMPLES", str(tmp_path / "none"))


@pytest.fixture
def finished(stores, no_samples):
    """One finished inspection of the visitor's own."""
    return made_up.write(stores.runs / "inspections")


@pytest.fixture
def checkpoint(tmp_path):
    """A small ConvN, as this project writes it, without torch."""
    from core.checkpoints.plans import ConvPlan

    random = np.random.default_rng(0)
    plan = ConvPlan(in_channels=1, width=1, side=2, image_size=28)
    tensors = {f"encoder.{name}": random.random(shape, dtype=np.float32) for name, shape in plan.tensors().items()}
    path = tmp_path / "convn.safetensors"
    metadata = {"format_version": "1", "spec": json.dumps({"spec_version": 1, "tau": 0.2}), "channels": "1", "image_size": "28"}
    save_file(tensors, path, metadata)
    return path


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_result(finished, open_page, tab):
    app = open_page(INSPECT, inspection=finished, ins_tab=tab)
    assert not app.error and len(charts(app)) == TABS[tab], texts(app)


@pytest.mark.parametrize("tab", TABS)
def test_an_encoder_of_zeros_has_a_red_finding_and_no_broken_tab(stores, no_samples, open_page, tab):
    """What the job stores for it: zeros, no map, and no value where a direction is needed."""
    zeros = {}
    for name, array in made_up.arrays().items():
        kept = name in ("labels", "index", "predicted", "code", "cos_edges", "confusion", "neighbours") or name.startswith("cos_")
        zeros[name] = array if kept else np.full_like(array, np.nan if name.startswith("tsne") else 0)
    numbers = made_up.summary(made_up.arrays())
    lost = ("uniformity", "alignment", "tolerance", "rankme", "participation_ratio", "rayleigh", "bingham", "cosine_gap")
    for space in ("h", "z"):
        numbers[space] |= dict.fromkeys(lost) | {"rows": made_up.ROWS, "zero_rows": made_up.ROWS}
        for test in ("rayleigh", "bingham", "cosine_gap"):
            del numbers[space][test]
    made_up.write(stores.runs / "inspections")
    store = InspectionStore(stores.runs / "inspections")
    inspection = made_up.spec().inspection_id
    store.write_result(inspection, {}, numbers, zeros)
    app = open_page(INSPECT, inspection=inspection, ins_tab=tab)
    assert not app.error and not app.exception, texts(app)
    if tab == "Summary":
        said = texts(app)
        assert ":red[:material/error:] The encoder returns zero for all images (120 of 120)" in said
        assert "almost evenly" not in said and "Uniformity" not in [metric.label for metric in app.metric]


def test_the_summary_says_what_stands_out_and_compares_with_the_exact_optimum(finished, open_page):
    app = open_page(INSPECT, inspection=finished)
    assert "h tells the classes apart: linear probe 0.83, nearest neighbours 0.78, where guessing reaches 0.10." in texts(app)
    metrics = {metric.label: (metric.value, metric.delta) for metric in app.metric}
    assert metrics["Uniformity"] == ("−2.000", "uniform −3.083")
    assert metrics["RankMe"] == ("6.0", "of 8") and metrics["Linear probe"] == ("0.610", "guessing 0.10")
    assert "50% of the time was spent in the encoder's forward pass." in texts(app)


def test_without_anything_the_choice_of_a_checkpoint_is_offered(stores, no_samples, open_page):
    app = open_page(INSPECT)
    assert not charts(app) and app.segmented_control(key="ins_from").value == "Upload"
    app.segmented_control(key="ins_from").set_value("Run of a study").run()
    assert "No run on this machine has left a checkpoint yet" in texts(app)
    app.segmented_control(key="ins_from").set_value("Sample").run()
    assert "This copy came without the sample checkpoints" in texts(app) and not app.exception


@pytest.mark.skipif(not samples.present(), reason="the sample checkpoints are not there")
def test_on_the_first_visit_a_sample_is_shown_at_once(stores, open_page):
    app = open_page(INSPECT)
    assert app.selectbox(key="ins_shown").value in {listed.id for listed in samples.inspections().list()}
    assert "h hardly knows the class" in texts(app) and "random bits that were added" in texts(app)


@pytest.mark.skipif(not samples.present(), reason="the sample checkpoints are not there")
def test_a_sample_with_its_shipped_settings_is_not_run_again(stores, open_page, monkeypatch):
    """Two inspections with the same id would hide one another."""
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda *_: pytest.fail("it was started again"))
    app = open_page(INSPECT, inspection="open", ins_from="Sample")
    app.button(key="ins_start").click().run()
    assert not app.exception and "h hardly knows the class" in texts(app)
    assert app.selectbox(key="ins_shown").value in {listed.id for listed in samples.inspections().list()}


def test_an_address_that_names_nothing_is_said(finished, open_page):
    app = open_page(INSPECT, inspection="0" * 12)
    assert "The address names the inspection '000000000000', which is not on this machine." in texts(app)
    app = open_page(INSPECT, inspection=finished, ins_tab="Nonsense", image="99999999", ins_space="q", ins_sheet="class 77")
    assert "asks for 'Nonsense'" in texts(app)
    app = open_page(INSPECT, inspection=finished, ins_tab="Neighbours", image="3", ins_sheet="class 77")
    assert "asks for 'class 77'" in texts(app) and not app.error


def test_an_image_in_the_address_is_asked_about(finished, open_page):
    app = open_page(INSPECT, inspection=finished, ins_tab="Neighbours", image="6")
    assert any('"ins_strip' in chart or "are of its class, 2" in chart for chart in charts(app))


def test_an_image_that_is_not_here_is_said(finished, open_page):
    for image in ("999999999", "first", "-3"):
        app = open_page(INSPECT, inspection=finished, ins_tab="Neighbours", image=image)
        assert f"The address asks for the image {image!r}, which is not among the test images" in texts(app)
        assert "image" not in app.query_params and not app.error


def open_path(app, path):
    app.segmented_control(key="ins_from").set_value("File on this machine").run()
    return app.text_input(key="ins_path").set_value(str(path)).run()


def test_a_file_by_its_path_is_reported_asked_about_and_started(stores, no_samples, open_page, checkpoint, monkeypatch):
    started = []
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda spec, *_: started.append(spec))
    app = open_path(open_page(INSPECT, inspection="open"), checkpoint)
    assert not app.exception and not app.error, texts(app)
    said = texts(app)
    assert ":small[Encoder]  \n**ConvN**" in said and "**128 dimensions**" in said and ":small[Input]  \n**grey**" in said
    digest = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    app.selectbox(key=f"ins_{digest[:12]}_normalisation").set_value("mnist").run()
    app.number_input(key=f"ins_{digest[:12]}_test").set_value(500).run()
    app.button(key="ins_start").click().run()
    assert started == [
        InspectionSpec(source=str(checkpoint), sha256=digest, name=checkpoint.name, normalisation="mnist", n_test=500)
    ]
    assert app.query_params["inspection"] in (started[0].inspection_id, [started[0].inspection_id])


def test_page_and_command_line_ask_for_the_same_inspection(stores, no_samples, open_page, tmp_path, monkeypatch):
    """Nothing is touched on the page, nothing but the data set is named on the command line."""
    from core.checkpoints.inspection import inspect
    from core.checkpoints.plans import ResNetPlan
    from core.commands.inspection import settings
    from core.inspections.suggest import suggest

    random = np.random.default_rng(0)
    widths = (8, 16, 32, 64)
    plan = ResNetPlan(block="basic", layers=(1,) * 4, in_channels=3, stem_width=8, kernel=7, inner=widths, outer=widths)
    names = {f"module.encoder_{side}.{name}": shape for side in "qk" for name, shape in plan.tensors().items()}
    path = tmp_path / "moco.safetensors"
    save_file({name: random.random(shape, dtype=np.float32) for name, shape in names.items()}, path)
    started = []
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda spec, *_: started.append(spec))
    app = open_path(open_page(INSPECT, inspection="open"), path)
    assert not app.error and "normalisation of the images: usual for this format, MoCo v1" in texts(app), texts(app)
    app.button(key="ins_start").click().run()
    report = inspect(path)
    asked = settings(path, report, {"dataset": suggest(report).dataset})
    assert asked.normalisation == "imagenet" and asked.stem == "imagenet"
    assert [spec.inspection_id for spec in started] == [asked.inspection_id]


def test_damaged_weights_are_told_once_and_as_a_warning(stores, no_samples, open_page, tmp_path, checkpoint):
    """NaN was told twice in two wordings, and what makes numbers doubtful stood in small print."""
    from safetensors.numpy import load_file

    tensors = load_file(checkpoint)
    tensors["encoder.convolutions.0.weight"][0, 0, 0, 0] = np.nan
    path = tmp_path / "damaged.safetensors"
    save_file(tensors, path)
    app = open_path(open_page(INSPECT, inspection="open"), path)
    assert [warning.value for warning in app.warning] == [
        "1 value is NaN, first in convolutions.0.weight. Features will not be usable."
    ]
    assert texts(app).count("NaN") == 1


def test_the_home_of_an_unknown_user_is_no_file(stores, no_samples, open_page):
    app = open_path(open_page(INSPECT, inspection="open"), "~nobody-of-this-name/a.pth")
    assert not app.exception and "There is no file" in app.error[0].value


def test_an_unknown_prefix_is_chosen_with_the_field_above(stores, no_samples, open_page, tmp_path, checkpoint):
    """The page spoke of prefix='...' as in Python."""
    from safetensors.numpy import load_file

    path = tmp_path / "odd.safetensors"
    save_file({f"mystery.part.{name.removeprefix('encoder.')}": value for name, value in load_file(checkpoint).items()}, path)
    app = open_path(open_page(INSPECT, inspection="open"), path)
    said = app.error[0].value
    assert "name it as the prefix 'mystery.part.'." in said and "prefix=" not in said
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    app.selectbox(key=f"ins_{digest[:12]}_prefix").set_value("mystery.part.").run()
    assert not app.error and "**ConvN**" in texts(app)


def test_a_size_the_encoder_cannot_take_is_refused_before_anything_starts(stores, no_samples, open_page, checkpoint):
    app = open_path(open_page(INSPECT, inspection="open"), checkpoint)
    key = f"ins_{hashlib.sha256(checkpoint.read_bytes()).hexdigest()[:12]}"
    app.number_input(key=f"{key}_mnist-5k_None_size").set_value(64).run()
    assert [error.value for error in app.error] == [
        "image_size: this ConvN takes images of 23 to 30 pixels a side, the images have 64."
    ]
    assert not [button for button in app.button if button.key == "ins_start"]


def page_of_html(folder):
    path = folder / "moco_v2.pth.tar"
    path.write_text("<!DOCTYPE html><html><body>Sign in to download</body></html>")
    return path


def cut_off(folder):
    path = folder / "cut.pth"
    path.write_bytes(b"PK\x03\x04" + bytes(200))
    return path


def runs_a_command(folder):
    path = folder / "evil.pth"
    path.write_bytes(b"cposix\nsystem\n(S'touch " + str(folder / "canary").encode() + b"'\ntR.")
    return path


def empty(folder):
    path = folder / "empty.pth"
    path.touch()
    return path


@pytest.mark.parametrize("make", [page_of_html, cut_off, runs_a_command, empty])
def test_files_that_are_no_checkpoint_get_a_message_and_nothing_runs(stores, no_samples, open_page, tmp_path, make):
    path = make(tmp_path)
    app = open_path(open_page(INSPECT, inspection="open"), path)
    assert not app.exception and len(app.error) == 1 and "was not opened." in app.error[0].value
    assert not [button for button in app.button if button.key == "ins_start"]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [("/nowhere/at/all.pth", "There is no file /nowhere/at/all.pth"), ("/", "is a folder"), ("\0", "There is no file"),
     ("x" * 5000, "cannot be a path"), ("   ", "")],
)  # fmt: skip
def test_paths_that_lead_nowhere(stores, no_samples, open_page, path, text):
    app = open_path(open_page(INSPECT, inspection="open"), path)
    assert not app.exception and text in texts(app)


def test_an_upload_is_stored_under_its_hash_and_opened(stores, no_samples, open_page, checkpoint):
    store = UploadStore(stores.runs / "uploads")
    with open(checkpoint, "rb") as file:
        upload = store.add(file, "../../mine.safetensors")
    app = open_page(INSPECT, inspection="open")
    assert app.selectbox(key="ins_digest").value == upload.sha256
    assert ":small[Encoder]  \n**ConvN**" in texts(app)
    assert "mine.safetensors" in texts(app) and ".." not in texts(app)
    app.button(key="ins_remove").click().run()
    assert store.all() == [] and not app.exception


def test_an_uploaded_file_is_kept_once_and_the_widget_lets_go_of_it(stores, no_samples, open_page, checkpoint):
    content = checkpoint.read_bytes()
    app = open_page(INSPECT, inspection="open")
    for _ in range(2):
        app.file_uploader[0].set_value(("mine.safetensors", content, "application/octet-stream")).run()
        assert not app.exception and not app.error, texts(app)
        assert app.file_uploader[0].value is None
    stored = UploadStore(stores.runs / "uploads").all()
    assert [upload.path.read_bytes() for upload in stored] == [content]
    assert ":small[Encoder]  \n**ConvN**" in texts(app)


def test_an_upload_over_the_limit_is_refused_and_nothing_is_kept(stores, no_samples, open_page, monkeypatch):
    monkeypatch.setattr("pages.parts.inspect.source.uploads", lambda: UploadStore(stores.runs / "uploads", limit=100))
    app = open_page(INSPECT, inspection="open")
    app.file_uploader[0].set_value(("big.pth", b"x" * 101, "application/octet-stream")).run()
    assert "The file has more than 100 bytes, the limit for uploads." in app.error[0].value and not app.exception
    assert UploadStore(stores.runs / "uploads").all() == []


def test_a_full_disk_under_an_upload_is_a_message(stores, no_samples, open_page, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(UploadStore, "add", full)
    app = open_page(INSPECT, inspection="open")
    app.file_uploader[0].set_value(("big.pth", b"x", "application/octet-stream")).run()
    assert "No space left on device" in app.error[0].value and not app.exception


def test_the_checkpoint_of_a_run_is_offered(stores, no_samples, open_page, checkpoint):
    spec = fixtures.study("randbit-quick")
    run = fixtures.fill(stores.runs, spec, runs=1, folders=True)[0]
    shutil.copy(checkpoint, stores.runs / spec.name / run.run_id / "checkpoint.safetensors")
    app = open_page(INSPECT, inspection="open", ins_from="Run of a study")
    assert app.selectbox(key="ins_run").value == f"runs/randbit-quick/{run.run_id}"
    assert ":small[Encoder]  \n**ConvN**" in texts(app) and not app.error


def at_work(stores, status="running", **fields):
    store, asked = InspectionStore(stores.runs / "inspections"), made_up.spec()
    store.create(asked)
    now = time.time()
    store.write_state(asked.inspection_id, **{"status": status, "started": now - 20, "heartbeat": now, **fields})
    return asked.inspection_id, store


def test_an_inspection_at_work_shows_how_far_it_is_and_can_be_stopped(stores, no_samples, open_page):
    inspection, store = at_work(stores, part="encoding", share=0.4, rate=812.4, seconds_left=33.0)
    app = open_page(INSPECT, inspection=inspection)
    assert "encoder.pth** is being inspected. It goes on when this page is closed." in texts(app)
    bar = app.get("progress")[0].proto
    assert bar.text == "**Encoding** · 40% · 812 images/s · about 30 s left" and bar.value == 40
    app.button(key="ins_stop").click().run()
    assert store.stop_requested(inspection) and app.button(key="ins_stop").disabled
    assert app.get("progress")[0].proto.text == "**Stopping**; the current batch ends first."
    state = {"status": "stopped", "share": 0.4, "started": time.time() - 20, "heartbeat": time.time()}
    store.write_state(inspection, **state)
    app.run()
    assert "**Stopped at 40%, after about 20 s.** No numbers were kept" in app.info[0].value and app.button(key="ins_again")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"status": "failed", "message": "stl10 is not on this machine."},
            "could not be inspected. stl10 is not on this machine.",
        ),
        (
            {"status": "stopped", "message": "Its process was ended."},
            "**Stopped, after about 20 s.** Its process was ended. No numbers were kept",
        ),
        ({"pid": 2**22 + 1, "created": 1.0}, "**Stalled.** Its process is gone."),
        ({"status": "finished"}, "could not be inspected. Its result was taken away. Run it again."),
    ],
)
def test_whatever_did_not_end_well_is_said_and_can_be_run_again(stores, no_samples, open_page, fields, text):
    inspection, _ = at_work(stores, **fields)
    app = open_page(INSPECT, inspection=inspection)
    assert text in texts(app) and app.button(key="ins_again")


def test_running_again_when_the_file_is_gone_is_a_message(stores, no_samples, open_page):
    inspection, _ = at_work(stores, status="stopped")
    app = open_page(INSPECT, inspection=inspection)
    app.button(key="ins_again").click().run()
    assert "/nowhere/encoder.pth is not there any more" in app.error[0].value and not app.exception


def damage(store, inspection, name):
    file = store.folder(inspection) / name
    file.write_bytes(file.read_bytes()[:300])


@pytest.mark.parametrize("name", ["arrays.npz", "summary.json"])
def test_a_damaged_result_is_said_and_run_again(stores, finished, open_page, monkeypatch, name):
    started, store = [], InspectionStore(stores.runs / "inspections")
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda spec, *_: started.append(spec))
    before = open_page(INSPECT, inspection=finished)
    assert before.metric
    damage(store, finished, name)
    assert store.state(finished).status == "finished"
    app = open_page(INSPECT, inspection=finished)
    assert "**encoder.pth** was inspected, but the result on disk is damaged." in app.error[0].value and not app.metric
    app.button(key="ins_again").click().run()
    assert started == [made_up.spec()] and not app.exception


def test_a_damaged_result_does_not_stand_in_for_a_new_one(stores, no_samples, open_page, checkpoint, monkeypatch):
    """Open, then Inspect with the settings of the damaged one."""
    started, digest = [], hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    asked = {"source": str(checkpoint), "sha256": digest, "name": checkpoint.name, "n_train": 4000, "n_test": 1000, "bits": 0}
    inspection = made_up.write(stores.runs / "inspections", **asked)
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda spec, *_: started.append(spec))
    app = open_path(open_page(INSPECT, inspection="open"), checkpoint)
    app.selectbox(key=f"ins_{digest[:12]}_normalisation").set_value("none").run()
    app.button(key="ins_start").click().run()
    assert started == [] and app.query_params["inspection"] in (inspection, [inspection])
    damage(InspectionStore(stores.runs / "inspections"), inspection, "arrays.npz")
    app = open_path(open_page(INSPECT, inspection="open"), checkpoint)
    app.selectbox(key=f"ins_{digest[:12]}_normalisation").set_value("none").run()
    app.button(key="ins_start").click().run()
    assert [spec.inspection_id for spec in started] == [inspection]


def test_a_damaged_shipped_result_is_made_again_from_the_shipped_file(stores, open_page, monkeypatch, tmp_path):
    if not samples.present():
        pytest.skip("the sample checkpoints are not there")
    folder, started = tmp_path / "samples", []
    shutil.copytree(samples.folder(), folder)
    monkeypatch.setenv("CONTRASTIVE_LENS_SAMPLES", str(folder))
    monkeypatch.setattr("pages.parts.inspect.work.start", lambda spec, *_: started.append(spec))
    listed = next(listed for listed in samples.inspections().list() if listed.spec.name == "Clean")
    damage(samples.inspections(), listed.id, "arrays.npz")
    app = open_page(INSPECT, inspection=listed.id)
    app.button(key="ins_again").click().run()
    assert [spec.source for spec in started] == [str(folder / "clean.safetensors")]
    assert started[0].inspection_id == listed.id


def test_delete_and_undo(finished, open_page):
    app = open_page(INSPECT, inspection=finished)
    app.button(key="ins_delete").click().run()
    assert "The inspection of encoder.pth was deleted." in texts(app) or app.segmented_control(key="ins_from")
    app = open_page(INSPECT)
    assert finished not in str(app.query_params)


def test_missing_pictures_leave_the_neighbours_readable(stores, no_samples, open_page, monkeypatch):
    monkeypatch.setattr("pages.parts.inspect.pictures.is_here", lambda name: False)
    inspection = made_up.write(stores.runs / "inspections", dataset="cifar10")
    app = open_page(INSPECT, inspection=inspection, ins_tab="Neighbours")
    assert "thumbnails are missing" in texts(app) and app.dataframe and not app.exception


def test_the_selector_names_the_number_of_images_in_sight(finished, open_page):
    """The long name of the data set pushed it out of the narrow field."""
    app = open_page(INSPECT, inspection=finished)
    shown = app.selectbox(key="ins_shown").options[0]
    assert " on MNIST-5k, " in shown and shown.endswith(" images")
