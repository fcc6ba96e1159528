"""MoCo's dictionary: a first-in, first-out queue of keys and the slowly moving encoder that writes them."""

import torch
from torch import Tensor, nn

from core.losses.normalise import unit_rows


class KeyQueue(nn.Module):
    """The K most recent keys, oldest overwritten first. Its content is part of the state dict.

    Attributes:
        keys: Unit rows, shape (K, d); random directions until they are overwritten.
        position: Row that the next batch is written to.
    """

    keys: Tensor
    position: Tensor

    def __init__(self, size: int, dim: int, batch_size: int, data_size: int, generator: torch.Generator | None = None):
        """Fill the queue with random directions.

        Args:
            size: Number of keys K, a multiple of the batch size and smaller than the data set.
            dim: Dimension d of a key.
            batch_size: Keys that arrive at a time.
            data_size: Images in the training set.
            generator: Random numbers of the start; None is torch's global generator.

        Raises:
            ValueError: If the sizes do not fit together.
        """
        super().__init__()
        if min(size, dim, batch_size) < 1:
            raise ValueError(f"size, dim and batch_size of the queue must be >= 1, got {size}, {dim} and {batch_size}.")
        if size >= data_size:
            raise ValueError(
                f"queue: must be smaller than the {data_size} training images, or positives sit in it as negatives, got {size}"
            )
        if size % batch_size:
            raise ValueError(f"queue: must be a multiple of the batch size {batch_size}, got {size}")
        self.batch_size = batch_size
        self.register_buffer("keys", unit_rows(torch.randn(size, dim, generator=generator)))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def enqueue(self, keys: Tensor) -> None:
        """Write a batch of keys over the oldest ones, after the logits of the step are formed.

        Args:
            keys: Shape (batch_size, d); normalised here.

        Raises:
            ValueError: If the batch has another shape than the queue was made for.
        """
        expected = (self.batch_size, self.keys.shape[1])
        if tuple(keys.shape) != expected:
            raise ValueError(
                f"The queue takes keys of shape {expected}, got {tuple(keys.shape)}. Leave the last incomplete batch out."
            )
        rows = (self.position + torch.arange(self.batch_size, device=self.keys.device)) % len(self.keys)
        # A new tensor, not a write in place: the graph of this step still holds the old one.
        self.keys = self.keys.index_copy(0, rows, unit_rows(keys.to(self.keys)))
        self.position = (self.position + self.batch_size) % len(self.keys)


@torch.no_grad()
def momentum_update(query_encoder: nn.Module, key_encoder: nn.Module, m: float) -> None:
    """Move the key encoder's parameters a little towards the query encoder: k <- m k + (1 - m) q, before keys are encoded.

    Buffers, such as batch norm's running statistics, are left alone: the key encoder gathers its own.

    Args:
        query_encoder: Trained by gradient.
        key_encoder: Same architecture; changed in place.
        m: Momentum, from 0 (copy) to 1 (never moves).

    Raises:
        ValueError: If m is out of range or the encoders have different parameters.

    Source: He et al., "Momentum Contrast", 2020, equation 2.
    """
    if not 0 <= m <= 1:
        raise ValueError(f"m must be from 0 to 1, got {m}.")
    query, key = dict(query_encoder.named_parameters()), dict(key_encoder.named_parameters())
    if [(name, p.shape) for name, p in query.items()] != [(name, p.shape) for name, p in key.items()]:
        raise ValueError("The query and key encoders must have the same parameters. Make one a deep copy of the other.")
    for name, parameter in key.items():
        parameter.lerp_(query[name].to(parameter), 1 - m)
