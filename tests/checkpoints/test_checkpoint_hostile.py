"""Hostile and broken files: nothing runs, memory stays under the limit, each gets its own message."""

import inspect
import subprocess
import sys
from pathlib import Path

import hostile_files
import pytest

from core.checkpoints import CheckpointError, Limits, inspect_many, load_encoder

RUNS = "which can run programs or reach other files. No checkpoint needs that. Nothing was run"
NEEDS_MEMORY = "Reading the file needs more than the allowed 1,074 MB of memory. It was not opened further."
REFUSED = {  # file -> (problem, piece of the message)
    "os_system": ("hostile", f"asks Python to use posix.system, {RUNS}"),
    "os_system_legacy": ("hostile", f"asks Python to use posix.system, {RUNS}"),
    "os_system_text_pickle": ("hostile", f"asks Python to use os.system, {RUNS}"),
    "eval_payload": ("hostile", f"asks Python to use builtins.eval, {RUNS}"),
    "exec_payload": ("hostile", f"asks Python to use builtins.exec, {RUNS}"),
    "subprocess_payload": ("hostile", f"asks Python to use subprocess.Popen, {RUNS}"),
    "open_payload": ("hostile", f"asks Python to use io.open, {RUNS}"),
    "reduce_chain": ("hostile", f"asks Python to use importlib.import_module, {RUNS}"),
    "set_class_attribute": ("damaged", "The file cannot be read: its objects are garbled (TypeError)"),
    "set_function_attribute": ("damaged", "The file cannot be read: its objects are garbled (AttributeError)"),
    "nested_archive": (
        "not_a_checkpoint",
        ("a checkpoint inside (release/model.pth). Unpack it and open that file; archives in archives"),
    ),
    "path_traversal": ("hostile", "which would be written outside its folder when unpacked"),
    "stride_bomb": ("hostile", "Tensor 'conv1.weight' has shape 1000000000, which is 4.0 GB, over 4 bytes of stored data"),
    "huge_claim": (
        "hostile",
        ("The file claims 8.0 GB of data for one tensor, but holds 16 bytes of it. It cannot be a real checkpoint."),
    ),
    "native_bytearray_claim": ("too_large", NEEDS_MEMORY),
    "compressed": ("hostile", "The archive holds compressed data ("),
    "shared_storage": ("hostile", "The tensors claim 8.4 GB in a file of 4.4 MB: they share data many times over"),
    "overlapping_safetensors": ("hostile", "The tensors of this safetensors file overlap"),
    "truncated": ("damaged", "its directory is missing or garbled: it was cut off or damaged on the way"),
    "truncated_legacy": ("damaged", "The file is damaged or was cut off; get it again."),
    "random_bytes": ("not_a_checkpoint", "This is no kind of checkpoint known here (its first bytes are 07"),
    "web_page": ("not_a_checkpoint", "This is a web page (HTML), not a checkpoint. The download link probably asked for a login"),
    "torch_script": ("unsupported", "This is a TorchScript archive, which carries program code"),
    "lfs_pointer": ("not_a_checkpoint", "a note that stands for the real file of 103 MB. Fetch it with `git lfs pull`"),
    "memo_bomb": ("too_large", NEEDS_MEMORY),
}
INERT = {  # file -> (piece of the refusal, name in ignored_globals or None)
    "hidden_in_attribute": ("There are no tensors in this file", "torch.serialization.os.system"),
    "cloudpickled_lambda": ("pickled program code (cloudpickle.cloudpickle._make_function) and no tensors", None),
    "plain_function": ("There are no tensors in this file", "hostile_files.weights"),
    "bytearray_claim": ("There are no tensors in this file", None),
    "absurd_depth": ("Under the top level lie 74 tensors of an encoder, too few to tell which", None),
    "deep_nesting": ("There are no tensors in this file", None),
}
HARMLESS = ("shared_lists", "cycle")
ALL = (*REFUSED, *INERT, *HARMLESS)
SMALL = Limits(memory_bytes=2**30, seconds=60)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """All files examined one after the other in one process; the canary must not exist before, between or after."""
    folder = tmp_path_factory.mktemp("hostile")
    canary = folder / "canary"
    paths = [getattr(hostile_files, name)(folder, canary) for name in ALL]
    assert not canary.exists()
    found = dict(zip(ALL, inspect_many(paths, limits=SMALL), strict=True))
    return found, canary, dict(zip(ALL, paths, strict=True))


def test_every_hostile_file_of_the_module_is_tested():
    functions = {name for name, value in vars(hostile_files).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert functions - {"weights", "resnet"} == set(ALL) and len(REFUSED) + len(INERT) >= 12


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_own_message(name, answers):
    found, canary, _ = answers
    problem, text = REFUSED[name]
    assert isinstance(found[name], CheckpointError), found[name]
    assert text in str(found[name])
    assert found[name].problem == problem
    assert not canary.exists()


def test_a_zip_bomb_is_named_by_the_sum_of_its_entries(answers):
    """The first entry of a bomb may be tiny; what counts is what all of them would become."""
    assert "that claim to become 67 MB)" in str(answers[0]["compressed"])


@pytest.mark.parametrize("name", REFUSED)
def test_the_page_says_what_to_do_once(name, answers):
    pytest.importorskip("streamlit")
    from pages.parts.inspect.report import what_now

    found = answers[0][name]
    text = f"{found} {what_now(found.problem, str(found))}".lower()
    for said in ("with other tools", "again and compare its size", "state_dict", "get it again", "open that"):
        assert text.count(said) <= 1, text
    assert not ("get it again" in text and "copy or download" in text), text
    if found.problem == "hostile":
        assert "with other tools" in text and text.endswith("ask whoever sent it where it comes from.")


def test_messages_differ(answers):
    """Different attacks are told apart; two ways to name os.system share a text, and so do two ways to ask for memory."""
    texts = {str(found) for name, found in answers[0].items() if name in REFUSED}
    assert len(texts) == len(REFUSED) - 2


@pytest.mark.parametrize("name", INERT)
def test_inert(name, answers):
    found, canary, _ = answers
    text, ignored = INERT[name]
    assert text in found[name].refusal
    assert found[name].refusal_problem == "no_encoder" and found[name].branches == ()
    assert ignored is None or ignored in found[name].ignored_globals
    assert not canary.exists()


@pytest.mark.parametrize("name", HARMLESS)
def test_shared_and_cyclic_objects_load(name, answers):
    assert answers[0][name].refusal is None and answers[0][name].architecture == "ResNet-10 ×0.125"


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_memory_stays_under_the_limit(answers):
    """Peak resident memory of the reading process over all hostile files, as the system counts it."""
    code = (
        "import resource, sys\nfrom core.checkpoints import Limits, inspect_many\n"
        f"inspect_many(sys.argv[1:], limits=Limits(memory_bytes={SMALL.memory_bytes}, seconds=60))\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code, *map(str, answers[2].values())]
    peak = 1024 * int(subprocess.run(command, capture_output=True, text=True, cwd=root, check=True).stdout)
    assert 2**24 < peak < SMALL.memory_bytes + 2**27


@pytest.mark.parametrize("name", ["os_system", "eval_payload", "memo_bomb"])
def test_load_encoder_refuses_too(name, answers):
    _, canary, paths = answers
    with pytest.raises(CheckpointError) as refused:
        load_encoder(paths[name], limits=SMALL)
    assert refused.value.problem == REFUSED[name][0]
    assert not canary.exists()


def test_the_payloads_work_without_protection(tmp_path):
    """The canary can sing: the same payload, opened the usual way, creates the file. Else the tests above prove nothing."""
    import torch

    canary = tmp_path / "canary"
    torch.load(hostile_files.os_system(tmp_path, canary), weights_only=False)
    assert canary.exists()
