"""The reconstruction objective against the plain mean over whole pictures."""

import pytest
import torch
import torch.nn.functional as F

from core.datasets.randbit import append_planes
from core.models import build_encoder
from core.training import RunSpec
from core.training.objectives import Autoencoder


@pytest.mark.parametrize(("channels", "bits"), [(1, 0), (1, 5), (3, 20)])
def test_every_channel_counts_alike(channels, bits):
    """A bit, rebuilt as one value, weighs as much as if it were drawn over the whole picture."""
    torch.manual_seed(0)
    spec = RunSpec(objective="autoencoder", bits=bits)
    encoder = build_encoder(spec, channels + bits, 28)
    objective = Autoencoder(spec, encoder, 28)
    a, b = torch.rand(2, 6, channels, 28, 28)
    planes = torch.randint(2, (6, bits)).float() if bits else None
    step = objective(encoder, a, b, planes, torch.zeros(6, dtype=torch.int64), torch.Generator())

    twice, x = (planes.repeat(2, 1) if bits else None), torch.cat((a, b))
    h = encoder(x, twice)
    pictures, values = objective.decoder(h)
    rebuilt, asked = (append_planes(pictures, values), append_planes(x, twice)) if bits else (pictures, x)
    assert rebuilt.shape == (12, channels + bits, 28, 28)
    torch.testing.assert_close(step.loss, F.mse_loss(rebuilt, asked))
    torch.testing.assert_close(step.h, h[:6])
