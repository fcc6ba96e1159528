"""Study definitions: what is accepted, in which order it expands, and the exact text of each error."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.studies import shipped
from core.studies.names import StudyError
from core.studies.study import StudySpec, estimate, seconds_each
from core.training.spec import RunSpec

SMALL = """
name = "small"
title = "Small"
seeds = [0, 1]

[base]
epochs = 3

[[block]]
label = "A"
objective = "nt_xent"
[block.grid]
bits = [0, 1, 2, 3, 5]
tau = [0.05, 0.1, 0.2]

[[block]]
label = "B"
objective = "supervised"
seeds = [7]
[block.grid]
bits = [0, 5]
"""


def error(text: str, source: str = "s") -> str:
    with pytest.raises(StudyError) as caught:
        StudySpec.from_text(text, source)
    return str(caught.value)


def test_expands_to_base_block_grid_and_seed():
    study = StudySpec.from_text(SMALL)
    runs = study.expand()
    assert len(runs) == len({run.run_id for run in runs}) == 5 * 3 * 2 + 2
    assert all(run.epochs == 3 for run in runs)
    assert {(run.bits, run.tau, run.seed) for run in runs if study.label_of(run) == "A"} == {
        (bits, tau, seed) for bits in (0, 1, 2, 3, 5) for tau in (0.05, 0.1, 0.2) for seed in (0, 1)
    }
    assert {(run.bits, run.seed) for run in runs if study.label_of(run.run_id) == "B"} == {(0, 7), (5, 7)}
    assert study.varied == ("bits", "tau")
    assert study.label_of("0" * 12) == ""


def test_first_come_the_first_seed_and_the_ends_of_each_dial():
    runs = StudySpec.from_text(SMALL).expand()
    assert {(run.bits, run.tau, run.objective) for run in runs[:6]} == {
        *((bits, tau, "nt_xent") for bits in (0, 5) for tau in (0.05, 0.2)),
        (0, 0.1, "supervised"),
        (5, 0.1, "supervised"),
    }
    assert all(run.bits in (0, 2, 5) for run in runs[:11])  # then the middle of the dials
    assert [run.seed for run in runs[17:]] == [1] * 15  # B has one seed, its own


def test_a_run_of_two_blocks_is_run_once_and_belongs_to_the_first():
    study = StudySpec.from_text(
        'name = "s"\n[[block]]\nlabel = "later"\n[block.grid]\nbits = [0, 1, 2]\n'
        '[[block]]\nlabel = "ends"\n[block.grid]\nbits = [1]\n'
    )
    assert sorted(run.bits for run in study.expand()) == [0, 1, 2]
    assert study.label_of(RunSpec(bits=1)) == "later"


def test_blocks_without_a_label_are_named_by_their_objective():
    study = StudySpec.from_text('name = "s"\n[[block]]\n[[block]]\nobjective = "gcl"\n[[block]]\ntau = 0.2\n')
    assert [block.label for block in study.blocks] == ["nt_xent", "gcl", "nt_xent 2"]


def test_shipped_definitions_are_sound():
    """Every file of data/studies can be read, is named like its file, and asks a question."""
    assert {"randbit-mnist-5k", "randbit-quick", "official-randbits-mnist"} <= set(shipped.names())
    for name in shipped.names():
        study = shipped.definition(name)
        assert study.name == name and study.title and study.question
        assert study.expand()


def test_the_randbit_studies_are_those_of_the_plan():
    full, quick, official = map(shipped.definition, ("randbit-mnist-5k", "randbit-quick", "official-randbits-mnist"))
    assert len(full.expand()) == 50 * len(full.seeds) and len(quick.expand()) == 6 and len(official.expand()) == 45
    assert {run.run_id for run in quick.expand()} <= {run.run_id for run in full.expand()}  # measured once, used twice
    run = official.expand()[0]
    assert (run.objective, run.batch_size, run.epochs, run.schedule) == ("cross_view", 1000, 10, "linear")
    assert (run.weight_decay, run.bn_momentum, run.bn_eps, run.bn_views) == (2e-4, 0.01, 1e-3, "separate")
    assert run.online_probe == "notebook"
    assert (run.shuffle, run.head_layers, run.head_hidden, run.head_dim, run.lr) == (False, 2, 256, 64, 1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = 'a'", "s: block: at least one [[block]] table is needed"),
        ("[[block]]\n", "s: name: required, but not given"),
        (
            "name = 'My study'\n[[block]]\n",
            "s: study name: must be 1 to 64 lower-case letters, digits, '-' or '_', starting with a letter or digit, "
            "got 'My study'",
        ),
        ("name = 'a'\nseed = [0]\n[[block]]\n", "s: seed: written as seeds = [0, 1, 2], in the study or in a block, got [0]"),
        ("name = 'a'\ntitel = 'x'\n[[block]]\n", "s: titel: unknown field (value 'x'); did you mean title?"),
        ("name = 'a'\nseeds = []\n[[block]]\n", "s: seeds: must be a list with at least one whole number, got []"),
        ("name = 'a'\nseeds = [-1]\n[[block]]\n", "s: seeds: must be whole numbers from 0 to 2147483647, got -1"),
        ("name = 'a'\nseeds = [1, 1]\n[[block]]\n", "s: seeds: each seed may appear once, got [1, 1]"),
        ("name = 'a'\n[block]\ntau = 1\n", "s: block: must be written as [[block]] tables, with two brackets"),
        (
            "name = 'a'\n[base]\ntemperature = 1\n[[block]]\n",
            "s: base: temperature: unknown field (value 1); remove it or check its spelling",
        ),
        ("name = 'a'\n[base]\nepochs = -1\n[[block]]\n", "s: base: epochs: input should be greater than or equal to 0, got -1"),
        ("name = 'a'\n[[block]]\nlabel = 'X'\ntau = 0\n", "s: block 1 (X): tau: input should be greater than 0, got 0"),
        (
            "name = 'a'\n[[block]]\nlabel = 'X'\n[[block]]\nlabel = 'X'\n",
            "s: block 2 (X): label: 'X' is already the label of block 1; labels must differ",
        ),
        (
            "name = 'a'\n[[block]]\n[block.grid]\nbits = []\n",
            "s: block 1: grid.bits: must hold at least one value, got an empty list",
        ),
        (
            "name = 'a'\n[[block]]\n[block.grid]\nbits = 3\n",
            "s: block 1: grid.bits: must be a list of values, got 3; a single value belongs in the block itself",
        ),
        (
            "name = 'a'\n[[block]]\n[block.grid]\nbits = [1, 2, 1]\n",
            "s: block 1: grid.bits: each value may appear once, got 1 twice",
        ),
        (
            "name = 'a'\n[[block]]\nbits = 1\n[block.grid]\nbits = [1, 2]\n",
            "s: block 1: grid.bits: bits is also set in the block itself (1); keep one of the two",
        ),
        (
            "name = 'a'\n[[block]]\n[block.grid]\nbits = [1, 33]\ntau = [0.1, 0.2]\n",
            "s: block 1: grid.bits: input should be less than or equal to 32, got 33",
        ),
        (
            "name = 'a'\n[[block]]\nn_train = 100\n[block.grid]\nbatch_size = [50, 200]\n",
            "s: block 1: grid.batch_size: must not exceed the 100 training images (n_train), got 200",
        ),
        (
            "name = 'a'\n[[block]]\n[block.grid]\nencoder = ['conv', 'resnet']\n",
            "s: block 1: grid.encoder: input should be 'conv', 'resnet18', 'resnet34' or 'resnet50', got 'resnet'",
        ),
        ("name = 'a'\n[[block]]\ntaus = 1\n", "s: block 1: taus: unknown field (value 1); did you mean tau?"),
        ("name = 'a'\nseeds = [0\n", "s: not valid TOML: unclosed array (at end of document)"),
        ("name = 'a'\nname = 'b'\n", "s: not valid TOML: cannot overwrite a value (at line 2, column 11)"),
        (f"a = {'[' * 5000}{']' * 5000}", "s: not valid TOML: too deeply nested"),
        (f"a = 1{'0' * 5000}", "s: not valid TOML: a number has too many digits"),
        ("name = 'a'\n[[block]]\n[block.grid]\ntau = ['0.1']\n", "s: block 1: grid.tau: must be a number, got '0.1'"),
        ("name = 'a'\n[base]\nbits = true\n[[block]]\n", "s: base: bits: must be a whole number, got True"),
        ("name = 'a'\n[[block]]\nmask_self = 0\n", "s: block 1: mask_self: must be true or false, got 0"),
    ],
)
def test_errors_say_where_what_and_what_is_allowed(text, expected):
    assert error(text) == expected


def test_a_grid_that_explodes_is_refused():
    values = ", ".join(str(lr / 1000) for lr in range(1, 401))
    text = f"name = 'a'\n[[block]]\n[block.grid]\nlr = [{values}]\ntau = [{values}]\n"
    assert error(text) == "s: grid: the study would have 160,000 runs; at most 100,000 are allowed"


def test_all_mistakes_of_a_kind_are_named_at_once():
    text = "name = 'a'\n[base]\nepochs = -1\n[[block]]\nlabel = 'X'\ntau = 0\n[block.grid]\nbits = [1, 99]\n"
    assert error(text).splitlines() == [
        "s: base: epochs: input should be greater than or equal to 0, got -1",
        "s: block 1 (X): tau: input should be greater than 0, got 0",
        "s: block 1 (X): grid.bits: input should be less than or equal to 32, got 99",
    ]


def test_files_that_cannot_be_read(tmp_path):
    missing, latin = tmp_path / "no.toml", tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xe4"')
    with pytest.raises(StudyError, match=r"no\.toml: cannot be read \(No such file or directory\)$"):
        StudySpec.from_toml(missing)
    with pytest.raises(StudyError, match=r"latin\.toml: not UTF-8 text \(byte 9\)$"):
        StudySpec.from_toml(latin)


def test_a_file_saved_on_windows_is_read(tmp_path):
    """Its byte order mark was an invalid statement at line 1, column 1."""
    (tmp_path / "s.toml").write_bytes(b'\xef\xbb\xbfname = "s"\r\n[[block]]\r\nobjective = "nt_xent"\r\n')
    assert StudySpec.from_toml(tmp_path / "s.toml").name == "s"


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
seeds = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True)
grids = st.fixed_dictionaries(
    {},
    optional={
        "bits": st.lists(st.integers(0, 32), min_size=1, max_size=4, unique=True),
        "tau": st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=3, unique=True),
        "shuffle": st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
        "augment": st.lists(st.sampled_from(["crop", "simclr", "none"]), min_size=1, max_size=3, unique=True),
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy at times
@given(title=texts, question=texts, own=st.none() | seeds, common=seeds, grid=grids, lr=st.floats(1e-8, 10))
def test_toml_round_trip(title, question, own, common, grid, lr):
    """Whatever a study holds survives being written as TOML, control characters and long floats included."""
    block = {"label": "x", "grid": grid} | ({"seeds": own} if own else {})
    header = {"name": "s", "title": title, "question": question, "seeds": common, "base": {"lr": lr}}
    study = StudySpec.from_dict({**header, "block": [block]})
    again = StudySpec.from_text(study.to_toml())
    assert again == study
    assert [run.run_id for run in again.expand()] == [run.run_id for run in study.expand()]


def test_other_seeds():
    study = StudySpec.from_text(SMALL)
    assert {run.seed for run in study.expand()} == {0, 1, 7}
    again = study.with_seeds("4, 5,4")
    assert again.seeds == (4, 5) and {run.seed for run in again.expand()} == {4, 5, 7}  # B keeps its own
    with pytest.raises(StudyError, match=r"^seeds: whole numbers from 0, separated by commas, such as 0,1,2, got '1;2'$"):
        study.with_seeds("1;2")


def test_estimate_uses_the_most_similar_timed_runs():
    fast, slow = RunSpec(objective="supervised", epochs=10), RunSpec(epochs=10)
    measured = [(fast, 5.0), (slow, 20.0), (RunSpec(epochs=10, seed=3), 22.0)]
    wanted = [RunSpec(epochs=20, tau=0.5), RunSpec(objective="supervised", epochs=10, bits=5)]
    assert seconds_each(wanted, measured) == [42.0, 5.0]
    assert seconds_each([RunSpec(dataset="cifar10")], measured) == [None]  # not comparable
    assert seconds_each([RunSpec(epochs=0)], measured) == [None]  # evaluation alone says nothing about training


def test_estimate_of_a_study():
    study = StudySpec.from_text('name = "s"\n[base]\nepochs = 10\n[[block]]\n[block.grid]\nbits = [0, 1, 2, 3]\n')
    runs = study.expand()
    assert estimate(study, [(runs[0], 30.0)], workers=2) == (4, 60.0, 1)
    assert estimate(study, [(runs[0], 30.0)], workers=8, done=[runs[0].run_id]) == (3, 30.0, 1)
    assert estimate(study, [], workers=2) == (4, None, 0)
    assert estimate(study, [], done=[run.run_id for run in runs]) == (0, 0.0, 0)
