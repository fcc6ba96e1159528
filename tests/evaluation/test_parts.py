"""Local features: which maps are taken from a network, and groups of places on images whose parts are known."""

import numpy as np
import pytest
import torch
from torch import nn

from core.evaluation.parts import groups, pixel_stage, stage_maps
from core.models import build_encoder
from core.training import RunSpec


def test_the_last_map_of_each_size_is_taken_from_fine_to_coarse():
    encoder = build_encoder(RunSpec(), 1, 28)
    images = torch.rand(3, 1, 28, 28)
    stages = stage_maps(encoder, images)
    assert [stage.name for stage in stages] == ["13 x 13", "6 x 6"]  # 2 x 2 is too coarse
    encoder.eval()
    torch.testing.assert_close(stages[0].maps, encoder.convolutions[:3](images))
    torch.testing.assert_close(stages[1].maps, encoder.convolutions[:6](images))


def test_looking_leaves_the_network_as_it_was():
    encoder = build_encoder(RunSpec(), 1, 28).train()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    stage_maps(encoder, torch.rand(4, 1, 28, 28))
    assert encoder.training and all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())
    assert not any(module._forward_hooks for module in encoder.modules())


def test_planes_are_handed_on():
    encoder = build_encoder(RunSpec(bits=2), 3, 28)
    images, planes = torch.rand(2, 1, 28, 28), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert stage_maps(encoder, images, planes)[0].maps.shape == (2, 32, 13, 13)


def test_images_of_another_size_give_the_maps_before_the_dense_layer():
    stages = stage_maps(build_encoder(RunSpec(), 1, 28), torch.rand(2, 1, 64, 64))
    assert [stage.name for stage in stages] == ["31 x 31", "15 x 15", "7 x 7"]


def test_a_network_without_maps_has_no_stages():
    assert stage_maps(nn.Sequential(nn.Flatten(), nn.Linear(64, 8)), torch.rand(2, 1, 8, 8)) == []
    with pytest.raises(RuntimeError):
        stage_maps(nn.Sequential(nn.Flatten(), nn.Linear(63, 8)), torch.rand(2, 1, 8, 8))


def quarters() -> torch.Tensor:
    """Maps [2, 3, 8, 8] whose left half points one way; the right half is split into two directions, the lower one smaller."""
    maps = torch.zeros(2, 3, 8, 8)
    maps[:, 0, :, :4] = 1
    maps[:, 1, :5, 4:] = 2
    maps[:, 2, 5:, 4:] = 3
    return maps


def test_groups_are_the_known_parts_largest_first():
    found = groups(quarters(), 3)
    assert found.dtype == np.uint8 and found.shape == (2, 8, 8)
    assert (found[:, :, :4] == 0).all() and (found[:, :5, 4:] == 1).all() and (found[:, 5:, 4:] == 2).all()


def test_length_does_not_matter_unless_pixels_are_compared():
    maps = torch.zeros(1, 2, 4, 4)
    maps[:, 0, :, :2], maps[:, 0, :, 2:] = 1, 9  # one direction, two lengths
    assert len(np.unique(groups(maps, 2))) == 1
    assert len(np.unique(groups(maps, 2, normalise=False))) == 2


def test_many_places_are_fitted_in_part_and_all_assigned(monkeypatch):
    monkeypatch.setattr("core.evaluation.parts.FITTED", 40)
    np.testing.assert_array_equal(groups(quarters(), 3), groups(quarters(), 3))
    assert groups(quarters(), 3).shape == (2, 8, 8)


def test_pixels_are_averages_of_their_cells():
    images = torch.rand(2, 3, 8, 8)
    expected = images.reshape(2, 3, 4, 2, 4, 2).mean((3, 5))
    torch.testing.assert_close(pixel_stage(images, 4).maps, expected)


@pytest.mark.parametrize("k", [1, 9])
def test_too_few_or_too_many_groups_are_refused(k):
    with pytest.raises(ValueError) as caught:
        groups(quarters(), k)
    assert str(caught.value) == f"k must lie between 2 and 8, got {k}."


def test_broken_maps_are_refused():
    with pytest.raises(ValueError, match=r"^The encoder's feature maps are not finite"):
        groups(quarters() * float("nan"), 3)
