"""A run is a pure function of its RunSpec, and says so when it fails."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load as load_safetensors

from core.models import build_encoder, encode
from core.training import RunSpec, fit
from core.training.loop import state_digest, train_run
from core.training.objectives import MoCo, build_objective

SMALL = dict(n_train=400, n_test=200, batch_size=100, epochs=2, head_dim=16)


@pytest.fixture(scope="module")
def trained():
    records = []
    return train_run(RunSpec(bits=3, save_every=1, **SMALL), records.append), records


def test_same_spec_same_result(trained):
    again = train_run(RunSpec(bits=3, save_every=1, **SMALL))
    clock = {"seconds", "train_seconds", "samples_per_second", "finished_at"}
    assert again.result.model_dump(exclude=clock) == trained[0].result.model_dump(exclude=clock)
    assert again.checkpoint == trained[0].checkpoint
    assert all(np.array_equal(again.embedding[name], array) for name, array in trained[0].embedding.items())


def test_seed_changes_the_run(trained):
    other = fit(RunSpec(bits=3, save_every=1, seed=1, **SMALL))
    assert other.loss != trained[0].result.loss


def test_records_tell_the_epochs(trained):
    run, records = trained
    epochs = [record for record in records if record["kind"] == "epoch"]
    assert [record["epoch"] for record in epochs] == [1, 2]
    wanted = {"loss", "loss_floor", "alignment", "uniformity", "online_accuracy", "samples_per_second", "attempt", "lr"}
    assert all(wanted <= set(record) for record in epochs)
    assert run.result.loss == epochs[-1]["loss"] < epochs[0]["loss"] < run.result.loss_chance
    assert records[-1]["kind"] == "evaluating"
    json.dumps(records)


def test_result_is_complete(trained):
    result = trained[0].result
    assert (
        result.status == "finished"
        and result.epochs_done == 2
        and (result.n_train, result.n_test, result.classes) == (400, 200, 10)
    )
    assert result.linear_accuracy > 0.3 and len(result.bit_accuracies) == 3 and 0 <= result.bits_known <= 3
    assert result.loss_chance == pytest.approx(np.log(199)) and result.loss_floor < result.loss_chance
    assert -4 < result.uniformity < 0 < result.alignment < 4 and 1 <= result.rankme <= 16


def test_checkpoint_rebuilds_the_encoder_and_carries_its_settings(trained):
    run, _ = trained
    tensors = load_safetensors(run.checkpoint)
    length = int.from_bytes(run.checkpoint[:8], "little")
    metadata = json.loads(run.checkpoint[8 : 8 + length])["__metadata__"]
    settings = json.loads(metadata["spec"])
    settings.pop("spec_version")
    assert RunSpec(**settings).run_id == run.result.run_id == metadata["run_id"]
    assert json.loads(metadata["classes"]) == [str(digit) for digit in range(10)]
    encoder = build_encoder(RunSpec(**settings), int(metadata["channels"]), int(metadata["image_size"]))
    encoder.load_state_dict({name.removeprefix("encoder."): t for name, t in tensors.items() if name.startswith("encoder.")})
    h, _ = encode(encoder, [torch.rand(4, 4, 28, 28)])
    assert h.shape == (4, 128)


def test_embedding_arrays_agree(trained):
    run, _ = trained
    arrays = run.embedding
    n = len(arrays["labels"])
    assert n == 200 and arrays["z"].shape == (n, 16) and arrays["pca"].shape == (n, 3) and arrays["code"].shape == (n,)
    np.testing.assert_allclose(np.linalg.norm(arrays["z"].astype(float), axis=1), 1, atol=2e-3)
    assert float(np.mean(2 - 2 * arrays["positive"])) == pytest.approx(run.result.alignment, abs=1e-5)
    assert float((arrays["predicted"] == arrays["labels"]).mean()) == pytest.approx(run.result.linear_accuracy, abs=1e-9)
    assert arrays["epochs"].tolist() == [0, 1, 2] and arrays["z_epochs"].shape == (3, n, 16)
    np.testing.assert_array_equal(arrays["z_epochs"][-1], arrays["z"])


@pytest.mark.parametrize(
    "fields",
    [
        dict(objective="cross_view", bn_views="separate"),
        dict(objective="gcl", lam=0.5),
        dict(objective="gcl", convention="notebook"),
        dict(objective="swd_hypersphere", lam=10),
        dict(objective="swd_hypercube"),
        dict(objective="swd_normal"),
        dict(objective="align_uniform"),
        dict(objective="alignment"),
        dict(objective="uniformity"),
        dict(objective="moco", queue=200),
        dict(objective="supervised"),
        dict(objective="supervised", label_layer="z", head_dim=2),
        dict(objective="autoencoder"),
        dict(optimizer="lars", lr=0.5, warmup_epochs=1),
        dict(optimizer="sgd", lr=0.05, head_layers=0),
        dict(augment="simclr"),
        dict(augment="none"),
        dict(shuffle=False, schedule="linear"),
        dict(online_probe="notebook"),
    ],
    ids=lambda fields: " ".join(f"{name}={value}" for name, value in fields.items()),
)
def test_every_objective_trains(fields):
    """The objective's own loss falls from its highest epoch. (MoCo's first rises, while easy random keys leave the queue.)"""
    run = train_run(RunSpec(**{**SMALL, "epochs": 10 if fields.get("objective") == "moco" else 3, **fields}))
    losses = [record["loss"] for record in run.history]
    assert run.result.status == "finished" and losses[-1] < max(losses[:-1])
    assert np.isfinite([record["uniformity"] for record in run.history]).all()


def test_untrained_encoder_is_measured_as_it_starts():
    result = fit(RunSpec(objective="untrained", bits=2, **SMALL))
    assert result.status == "finished" and result.epochs_done == 0 and result.loss is None and result.online_accuracy is None
    assert result.linear_accuracy > 0.4


def test_divergence_is_recorded_as_such():
    run = train_run(RunSpec(optimizer="sgd", lr=1e12, **SMALL))
    assert run.result.status == "diverged" and run.result.linear_accuracy is None and run.checkpoint is None
    assert "not finite" in run.result.notes[-1] and run.result.notes[-1].endswith("lower the learning rate")


@pytest.mark.parametrize(
    ("fields", "ways"),
    [
        (dict(objective="gcl", tau=0.01, lam=1e9), "lower the learning rate, raise tau or lower lam"),
        (dict(objective="gcl", tau=0.5, lam=1e9), "lower the learning rate or lower lam"),
        (dict(objective="nt_xent", tau=0.01), "lower the learning rate or raise tau"),
        (dict(objective="supervised"), "lower the learning rate"),
    ],
)
def test_what_to_try_after_divergence_names_only_dials_that_are_far_out(fields, ways):
    run = train_run(RunSpec(optimizer="sgd", lr=1e12, **{**SMALL, **fields}))
    assert run.result.status == "diverged" and run.result.notes[-1].endswith(ways)


def test_stop_ends_after_the_current_batch():
    asked = []
    run = train_run(RunSpec(**SMALL), should_stop=lambda: len(asked) >= 5 or asked.append(1))
    assert run.result.status == "stopped" and run.result.epochs_done == 1 and run.result.linear_accuracy is None


def test_keeping_epochs_changes_nothing_else_and_a_stopped_run_tried_again_has_all_of_them():
    settings = dict(n_train=200, n_test=100, batch_size=100, epochs=3, head_dim=2)
    kept, plain = RunSpec(save_every=2, **settings), RunSpec(**settings)
    asked = []
    stopped = train_run(kept, should_stop=lambda: len(asked) >= 3 or asked.append(1))
    assert stopped.result.status == "stopped" and stopped.embedding is None  # half of the epochs would look like all of them
    again, without = train_run(kept, attempt=2), train_run(plain)
    assert again.embedding["epochs"].tolist() == [0, 2, 3]
    np.testing.assert_array_equal(again.embedding["z_epochs"][-1], again.embedding["z"])
    np.testing.assert_array_equal(again.embedding["z"], without.embedding["z"])
    assert again.result.loss == without.result.loss and "z_epochs" not in without.embedding
    assert kept.run_id != plain.run_id == RunSpec(save_every=0, **settings).run_id


def test_batch_larger_than_the_data():
    with pytest.raises(ValueError, match=r"batch_size: must not exceed the 4000 training images, got 5000\. Lower batch_size"):
        fit(RunSpec(batch_size=5000))


def test_unknown_device():
    with pytest.raises(ValueError, match="device: must be auto, cpu or an accelerator that torch finds here, got 'tpu9'"):
        fit(RunSpec(device="tpu9", **SMALL))


def test_callers_threads_and_random_state_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    fit(RunSpec(objective="untrained", **SMALL, threads=2))
    assert torch.get_num_threads() == threads and torch.equal(torch.rand(3), expected)


def test_state_digest_sees_statistics_and_weights():
    encoder = build_encoder(RunSpec(), 1, 28)
    before = state_digest(encoder)
    encoder.eval()(torch.rand(3, 1, 28, 28))
    assert state_digest(encoder) == before
    encoder.train()(torch.rand(3, 1, 28, 28))
    assert state_digest(encoder) != before


def test_moco_against_a_slow_oracle_over_five_steps():
    """Queue content, momentum weights and logits of facebookresearch/moco's rules, written out with loops."""
    torch.manual_seed(0)
    spec = RunSpec(objective="moco", queue=12, momentum=0.9, tau=0.2, batch_size=4, head_dim=8, n_train=64)
    encoder = build_encoder(spec, 1, 28)
    objective = build_objective(spec, encoder, classes=10, image_size=28, n_train=64)
    assert isinstance(objective, MoCo)
    optimizer = torch.optim.SGD([*encoder.parameters(), *objective.head.parameters()], lr=0.1)
    queue = [key.clone() for key in objective.queue.keys]
    slow_key = {name: p.clone() for name, p in encoder.named_parameters()}
    for step in range(5):
        a, b = torch.rand(2, 4, 1, 28, 28)
        slow_key = {name: 0.9 * slow_key[name] + 0.1 * p.detach() for name, p in encoder.named_parameters()}
        out = objective(encoder, a, b, None, None, None)
        for name, p in objective.key_encoder.named_parameters():
            torch.testing.assert_close(p, slow_key[name])
        with torch.no_grad():
            query = torch.nn.functional.normalize(objective.head(encoder(a)), dim=1)
            key = torch.nn.functional.normalize(objective._new_keys, dim=1)
            loss = 0.0
            for i in range(4):
                logits = [float(query[i] @ key[i]) / 0.2] + [float(query[i] @ old) / 0.2 for old in queue]
                loss += (np.logaddexp.reduce(logits) - logits[0]) / 4
        assert out.loss.item() == pytest.approx(loss, abs=1e-4)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        objective.after_step(encoder)
        start = (4 * step) % 12
        queue[start : start + 4] = list(key)
        torch.testing.assert_close(objective.queue.keys, torch.stack(queue), rtol=1e-5, atol=1e-6)
        assert all(p.grad is None for p in objective.key_encoder.parameters())
