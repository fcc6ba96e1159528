"""The study of an own folder: sizes that fit any number of images, names that tell settings apart."""

from pathlib import Path

import pytest

from core.studies.own import BITS, OwnImages, is_own, own_study
from core.studies.study import StudySpec

ROOT = Path("/data/My flowers")


@pytest.mark.parametrize(("n", "batch", "epochs"), [(32, 8, 120), (160, 40, 120), (1000, 250, 40), (50_000, 250, 10)])
def test_sizes_follow_the_number_of_images(n, batch, epochs):
    run = own_study(OwnImages(ROOT, 4, n, n // 5), 32).expand()[0]
    assert (run.batch_size, run.epochs) == (batch, epochs)
    assert run.n_train == (5000 if n > 5000 else None) and run.data_root == str(ROOT) and run.image_size == 32


def test_the_dial_ends_where_asked_and_every_line_has_it():
    study = own_study(OwnImages(ROOT, 4, 400, 100), 64, most_bits=8, seeds=2)
    assert {run.bits for run in study.expand()} == {bits for bits in BITS if bits <= 8}
    assert {run.objective for run in study.expand()} == {"nt_xent", "supervised", "untrained"} and study.seeds == (0, 1)
    assert StudySpec.from_text(study.to_toml()) == study


def test_other_settings_are_another_study():
    images = OwnImages(ROOT, 4, 400, 100)
    names = {own_study(images, 32).name, own_study(images, 64).name, own_study(images, 32, seeds=2).name}
    assert len(names) == 3 and all(is_own(name) and name.startswith("own-my-flowers-") for name in names)
    assert own_study(images, 32).name == own_study(images, 32).name


def test_too_few_images_are_refused():
    with pytest.raises(ValueError) as caught:
        own_study(OwnImages(ROOT, 4, 31, 8), 32)
    assert str(caught.value) == f"{ROOT} has 31 training images; at least 32 are needed to contrast them."
