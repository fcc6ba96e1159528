"""InspectionSpec: what decides an inspection, and how its id follows from it."""

import pytest
from pydantic import ValidationError

from core.inspections.spec import InspectionSpec
from core.validation import explain
from tests.inspections.made_up import DIGEST, spec


def test_the_id_does_not_depend_on_where_the_file_lies_or_what_it_is_called():
    assert spec().inspection_id == spec(source=DIGEST, name="other.pth").inspection_id


@pytest.mark.parametrize(
    "change",
    [{"sha256": "cd" * 32}, {"normalisation": "mnist"}, {"branch": "encoder_k"}, {"bits": 4}, {"n_test": 121}, {"seed": 1},
     {"dataset": "mnist"}, {"image_size": 32}, {"augment": "simclr"}, {"heads": 6}],
)  # fmt: skip
def test_whatever_changes_the_result_changes_the_id(change):
    assert spec(**change).inspection_id != spec().inspection_id


def test_the_id_is_pinned():
    """Stored inspections are found by it: a change of the hash would lose them."""
    assert InspectionSpec(source="/x", sha256="0" * 64, name="x").inspection_id == "5a9b484d6587"


def test_where_a_named_data_set_lies_does_not_matter_but_a_folder_does():
    assert spec(data_root="/a").inspection_id == spec(data_root="/b").inspection_id
    folder = {"dataset": "folder"}
    assert spec(**folder, data_root="/a").inspection_id != spec(**folder, data_root="/b").inspection_id


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"sha256": "xyz"}, "sha256: string should match pattern"),
        ({"n_test": 5}, "n_test: input should be greater than or equal to 20, got 5"),
        ({"n_test": 20_000}, "n_test: input should be less than or equal to 10000, got 20000"),
        ({"stem": "odd"}, "stem: input should be 'imagenet' or 'cifar', got 'odd'"),
        ({"n_train": True}, "n_train: must be a whole number, got True"),
        ({"color_strength": "1"}, "color_strength: must be a number, got '1'"),
        ({"max_pool": 1}, "max_pool: must be true or false, got 1"),
        ({"dataset": "folder"}, "data_root: the folder data set needs a folder with train/<class>/ and test/<class>/ inside"),
        ({"colour": 1}, "colour: unknown field (value 1); remove it or check its spelling"),
    ],
)
def test_mistakes_are_named(change, text):
    with pytest.raises(ValidationError) as error:
        spec(**change)
    assert text in explain(error.value)


def test_a_written_spec_is_read_again_with_all_that_is_left_open():
    made = spec()
    assert made.max_pool is None and InspectionSpec.model_validate_json(made.model_dump_json()) == made


def test_choices_are_those_that_were_made():
    assert spec(stem="cifar", max_pool=False).choices == {"stem": "cifar", "max_pool": False}
    assert spec().choices == {}


def test_an_upload_is_known_by_its_digest():
    assert spec(source=DIGEST).uploaded and not spec().uploaded
