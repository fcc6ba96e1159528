"""A MoCo dictionary step by step: which batch sits in which slot, and how far its keys have gone out of date.

A model small enough to watch: an encoder is one angle, the direction in which it puts a certain picture. Training turns
the query encoder steadily, with jitter from step to step; the key encoder follows it by momentum. Pages import this
module, so it uses numpy only; `core.losses` has the queue that trains.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
START = -1  # written step of a slot that still holds the random vectors of the start


class QueueTrace(NamedTuple):
    """State after each of T steps, in the order of MoCo's code: key encoder moved, keys encoded, then enqueued."""

    query: Floats  # (T,) angle of the query encoder, radians
    key: Floats  # (T,) angle of the key encoder after its momentum update
    slot: NDArray[np.int64]  # (T,) slot overwritten in this step
    written: NDArray[np.int64]  # (T, slots) step in which each slot was written, START before that
    stored: Floats  # (T, slots) angle at which each slot's keys were written; random at the start

    @property
    def age(self) -> NDArray[np.int64]:
        """(T, slots) steps since each slot was written, START where it never was."""
        steps = np.arange(len(self.query))[:, None]
        return np.where(self.written == START, START, steps - self.written)

    @property
    def lag(self) -> Floats:
        """(T,) how far the key encoder trails the query encoder, radians."""
        return np.abs(self.query - self.key)

    @property
    def disagreement(self) -> Floats:
        """(T,) root mean square distance of the stored keys to the key encoder of now, radians; written slots only."""
        known = self.written != START
        squares = np.where(known, (self.stored - self.key[:, None]) ** 2, 0.0)
        return np.sqrt(squares.sum(1) / known.sum(1))


def trace(slots: int, momentum: float, steps: int, drift: float = 0.015, jitter: float = 0.12, seed: int = 0) -> QueueTrace:
    """Run the dictionary for a number of steps.

    Args:
        slots: Batches that fit into the queue, K / batch size, >= 1.
        momentum: m of the key encoder, 0 to below 1: key <- m key + (1 - m) query.
        steps: Training steps T, >= 1.
        drift: Radians the query encoder turns per step.
        jitter: Standard deviation of the step-to-step noise around that path, radians.
        seed: Of the jitter and of the random start of the queue.

    Raises:
        ValueError: If slots or steps is below 1, or momentum outside [0, 1).

    Source: facebookresearch/moco, moco/builder.py: momentum update before the keys are encoded, first in first out,
        keys enqueued after the logits.
    """
    if slots < 1 or steps < 1:
        raise ValueError(f"slots and steps must be at least 1, got {slots} and {steps}.")
    if not 0 <= momentum < 1:
        raise ValueError(f"momentum must be at least 0 and below 1, got {momentum}.")
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(steps) * jitter
    noise[0] = 0.0
    query = drift * np.arange(steps) + noise
    key = np.empty(steps)
    stored = np.empty((steps, slots))
    written = np.empty((steps, slots), dtype=np.int64)
    now_stored, now_written = rng.uniform(-np.pi, np.pi, slots), np.full(slots, START)
    follower = query[0]  # the key encoder starts as a copy
    for step in range(steps):
        follower = momentum * follower + (1 - momentum) * query[step]
        now_stored[step % slots], now_written[step % slots] = follower, step
        key[step], stored[step], written[step] = follower, now_stored, now_written
    return QueueTrace(query, key, np.arange(steps) % slots, written, stored)
