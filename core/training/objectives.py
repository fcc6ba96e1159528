"""What is minimised: one small module per kind of objective, all called alike."""

import copy
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.losses import from_spec
from core.losses.candidates import info_nce_value
from core.losses.queue import KeyQueue, momentum_update
from core.models import build_decoder, build_head, no_head
from core.training.spec import CONTRASTIVE, RunSpec

Planes = Tensor | None  # values [n, b] of the RandBit channels of each image, the same in both views


class Step(NamedTuple):
    """One evaluation of the objective on a batch."""

    loss: Tensor  # scalar, float32, nats (mean squared error for the autoencoder)
    h: Tensor  # representation of view a, [n, h_dim]
    parts: dict[str, Tensor]  # unweighted alignment and distribution terms, where the loss has them


def encode_both(encoder: nn.Module, a: Tensor, b: Tensor, planes: Planes) -> Tensor:
    """Both views through the encoder as one batch, [2n, h_dim]; view a comes first."""
    return encoder(torch.cat((a, b)), None if planes is None else planes.repeat(2, 1))


class Contrastive(nn.Module):
    """Projection head and a two-view loss from core.losses."""

    def __init__(self, spec: RunSpec, encoder: nn.Module):
        super().__init__()
        self.head = build_head(spec, encoder.h_dim)
        self.loss = from_spec(spec)
        self.separate = spec.bn_views == "separate"

    def forward(
        self, encoder: nn.Module, a: Tensor, b: Tensor, planes: Planes, labels: Tensor, generator: torch.Generator
    ) -> Step:
        """Views [n, c, s, s] each -> the loss on their embeddings."""
        if self.separate:  # batch norm sees one view at a time, as in the authors' notebook
            h_a, h_b = encoder(a, planes), encoder(b, planes)
            z_a, z_b = self.head(h_a), self.head(h_b)
        else:
            h = encode_both(encoder, a, b, planes)
            h_a = h[: len(a)]
            z_a, z_b = self.head(h).chunk(2)
        terms = self.loss(z_a, z_b, generator)
        parts = {"alignment": terms.alignment, "distribution": terms.distribution}
        return Step(terms.total, h_a, {name: part for name, part in parts.items() if part is not None})

    def after_step(self, encoder: nn.Module) -> None:
        """Nothing to do."""


class MoCo(nn.Module):
    """InfoNCE against a queue of keys from a momentum encoder; K + 1 candidates, the positive first.

    The key encoder is updated before the keys are computed, keys carry no gradient, and the new keys enter the
    queue after the logits are formed, so no positive is among its own negatives.

    Source: facebookresearch/moco, moco/builder.py. Deviation: on one device there is no batch shuffling for batch norm.
    """

    def __init__(self, spec: RunSpec, encoder: nn.Module, n_train: int):
        super().__init__()
        self.head = build_head(spec, encoder.h_dim)
        self.key_encoder = copy.deepcopy(encoder).requires_grad_(False)
        self.key_head = copy.deepcopy(self.head).requires_grad_(False)
        self.queue = KeyQueue(spec.queue, self.head.z_dim, spec.batch_size, n_train)
        self.tau, self.m = spec.tau, spec.momentum

    def forward(
        self, encoder: nn.Module, a: Tensor, b: Tensor, planes: Planes, labels: Tensor, generator: torch.Generator
    ) -> Step:
        """View a is the query, view b the key."""
        h = encoder(a, planes)
        query = self.head(h)
        with torch.no_grad():
            momentum_update(encoder, self.key_encoder, self.m)
            momentum_update(self.head, self.key_head, self.m)
            key = self.key_head(self.key_encoder(b, planes))
        loss = info_nce_value(query, key, self.queue.keys, self.tau)
        self._new_keys = key
        return Step(loss, h, {})

    def after_step(self, encoder: nn.Module) -> None:
        """The keys of this batch enter the queue."""
        self.queue.enqueue(self._new_keys)


class Supervised(nn.Module):
    """Cross entropy over the classes, mean of both views, trained end to end.

    With label_layer "h" the classifier reads h and there is no head (z is h); with "z" it reads the head's output.
    """

    def __init__(self, spec: RunSpec, encoder: nn.Module, classes: int):
        super().__init__()
        self.head = build_head(spec, encoder.h_dim) if spec.label_layer == "z" else no_head(encoder)
        self.classifier = nn.Linear(self.head.z_dim, classes)

    def forward(
        self, encoder: nn.Module, a: Tensor, b: Tensor, planes: Planes, labels: Tensor, generator: torch.Generator
    ) -> Step:
        """Both views carry the label of their image."""
        h = encode_both(encoder, a, b, planes)
        logits = self.classifier(self.head(h)).float()
        return Step(F.cross_entropy(logits, torch.cat((labels, labels))), h[: len(a)], {})

    def after_step(self, encoder: nn.Module) -> None:
        """Nothing to do."""


class Untrained(nn.Module):
    """The head that belongs to an encoder left as initialised. Never called on a batch."""

    def __init__(self, spec: RunSpec, encoder: nn.Module):
        super().__init__()
        self.head = build_head(spec, encoder.h_dim)


class Autoencoder(nn.Module):
    """Mean squared error between each view, bit channels included, and its reconstruction from h."""

    def __init__(self, spec: RunSpec, encoder: nn.Module, image_size: int):
        super().__init__()
        self.head = no_head(encoder)
        self.decoder = build_decoder(encoder.h_dim, encoder.channels - spec.bits, image_size, spec.bits)

    def forward(
        self, encoder: nn.Module, a: Tensor, b: Tensor, planes: Planes, labels: Tensor, generator: torch.Generator
    ) -> Step:
        """Both views are reconstructed."""
        h = encode_both(encoder, a, b, planes)
        pictures, values = self.decoder(h)
        error = F.mse_loss(pictures.float(), torch.cat((a, b)))
        if planes is not None:  # as if each were a whole channel of the picture
            share = planes.shape[1] / (a.shape[1] + planes.shape[1])
            error = (1 - share) * error + share * F.mse_loss(values.float(), planes.repeat(2, 1).float())
        return Step(error, h[: len(a)], {})

    def after_step(self, encoder: nn.Module) -> None:
        """Nothing to do."""


def build_objective(spec: RunSpec, encoder: nn.Module, *, classes: int, image_size: int, n_train: int) -> nn.Module:
    """The objective a RunSpec asks for; its parameters are trained together with the encoder's."""
    if spec.objective == "moco":
        return MoCo(spec, encoder, n_train)
    if spec.objective in CONTRASTIVE:
        return Contrastive(spec, encoder)
    if spec.objective == "autoencoder":
        return Autoencoder(spec, encoder, image_size)
    if spec.objective == "supervised":
        return Supervised(spec, encoder, classes)
    return Untrained(spec, encoder)
