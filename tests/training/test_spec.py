"""RunSpec: what is accepted, how it is refused, and that ids are stable."""

import pytest
from pydantic import ValidationError

from core.training import RunSpec
from core.validation import explain


def problem(**fields) -> str:
    with pytest.raises(ValidationError) as caught:
        RunSpec(**fields)
    return explain(caught.value)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"tau": 0}, "tau: input should be greater than 0, got 0"),
        ({"tau": float("nan")}, "tau: input should be a finite number, got nan"),
        ({"lam": -1}, "lam: input should be greater than or equal to 0, got -1"),
        ({"bits": 33}, "bits: input should be less than or equal to 32, got 33"),
        ({"temperature": 0.1}, "temperature: unknown field (value 0.1); remove it or check its spelling"),
        ({"n_train": 100}, "batch_size: must not exceed the 100 training images (n_train), got 250"),
        ({"dataset": "folder"}, "data_root: the folder data set needs a folder with train/<class>/ and test/<class>/ inside"),
        ({"image_size": 8}, "image_size: the conv encoder needs at least 15 pixels a side, got 8"),
        (
            {"objective": "moco", "queue": 1000, "n_train": 1000},
            "queue: must be smaller than the 1000 training images, or positives are among the negatives, got 1000",
        ),
        ({"objective": "moco", "queue": 300}, "queue: must be a multiple of the batch size 250, got 300"),
        (
            {"objective": "gcl", "convention": "notebook", "mask_self": False},
            "mask_self: the notebook's convention always keeps the similarity to itself; leave mask_self out",
        ),
        ({"encoder": "resnet18", "width": 2}, "width: only the conv encoder can be widened, resnet18 has width 1, got 2"),
    ],
)
def test_refusals_name_field_value_and_what_is_allowed(fields, text):
    assert problem(**fields) == text


def test_wrong_choice_lists_the_allowed_ones():
    text = problem(optimizer="rmsprop")
    assert text.startswith("optimizer: ") and "'adam', 'sgd' or 'lars'" in text and text.endswith("got 'rmsprop'")


def test_ids_hash_changed_fields_only():
    """Pinned: a change here means that every shipped result loses its run."""
    assert RunSpec().canonical_json() == '{"spec_version":1}'
    assert RunSpec().run_id == "194259188878"
    spec = RunSpec(bits=10, tau=0.05, seed=2)
    assert spec.canonical_json() == '{"bits":10,"seed":2,"spec_version":1,"tau":0.05}'
    assert RunSpec(**spec.changed()) == spec
    assert spec.run_id != RunSpec(bits=10, tau=0.05, seed=1).run_id


def test_ids_from_before_digits_and_scenes_hold():
    """Fields added with a neutral default leave the ids of shipped results alone."""
    assert RunSpec(dataset="mnist", digits=16, digit_size=8, color_strength=1.0).run_id == "20c63d198654"
    assert RunSpec(scene="picture", overlay="max", gray=0.2, digit_draw="fresh", scene_digits=0).run_id == RunSpec().run_id


def test_default_tau_written_out_is_the_same_run():
    assert RunSpec(tau=0.1).run_id == RunSpec().run_id


def test_where_a_named_set_lies_does_not_matter_but_a_folder_is_its_data():
    assert RunSpec(dataset="mnist", data_root="/a").run_id == RunSpec(dataset="mnist", data_root="/b").run_id
    assert RunSpec(dataset="folder", data_root="a").run_id != RunSpec(dataset="folder", data_root="b").run_id


def test_defaults_are_pinned():
    """Ids rest on the defaults: changing one silently changes the meaning of stored runs."""
    assert RunSpec().model_dump(mode="json") == {
        "dataset": "mnist-5k",
        "data_root": None,
        "n_train": None,
        "n_test": None,
        "image_size": None,
        "bits": 0,
        "digits": 0,
        "digit_size": 0,
        "digit_draw": "fresh",
        "overlay": "max",
        "scene": "picture",
        "scene_digits": 0,
        "augment": "crop",
        "color_strength": 0.5,
        "gray": 0.2,
        "encoder": "conv",
        "width": 1,
        "stem": "auto",
        "head_layers": 2,
        "head_hidden": None,
        "head_dim": 64,
        "head_norm": "hidden",
        "bn_momentum": 0.1,
        "bn_eps": 1e-5,
        "bn_views": "joint",
        "objective": "nt_xent",
        "tau": 0.1,
        "lam": None,
        "mask_self": True,
        "convention": "standard",
        "label_layer": "h",
        "queue": 1000,
        "momentum": 0.99,
        "batch_size": 250,
        "epochs": 20,
        "optimizer": "adam",
        "lr": 1e-3,
        "lr_scaling": "none",
        "schedule": "cosine",
        "warmup_epochs": 0.0,
        "weight_decay": 1e-4,
        "shuffle": True,
        "online_probe": "standard",
        "save_every": 0,
        "seed": 0,
        "threads": 1,
        "device": "auto",
        "precision": "auto",
    }


def test_weight_of_the_distribution_term():
    assert RunSpec(objective="gcl", tau=0.3).weight == 0.3
    assert RunSpec(objective="gcl", tau=0.3, lam=0.7).weight == 0.7
    assert RunSpec(objective="swd_normal").weight == 1.0
