"""Random numbers that belong to an image: the same for the same image, seed and turn, in any batch and on any device.

A generator hands out numbers in the order in which it is asked, so what an image gets would depend on its batch. Here every
number is a hash of the image's code, of a salt (seed, turn) and of a counter.
"""

import torch
from torch import Tensor

WORD = 0xFFFFFFFF  # 32 bits
STEP = 0x9E3779B9  # odd, so counters spread over all words
FLOAT_BITS = 24  # a float32 holds that many exactly, so 1.0 is never reached


def salt(*parts: int) -> int:
    """One 32-bit word from several whole numbers, such as a seed and a turn; their order matters."""
    word = 0
    for part in parts:
        word = _mix((word * 31 + part + STEP) & WORD)
    return word


def words(codes: Tensor, salt: int, count: int) -> Tensor:
    """Random 32-bit words for each image.

    Args:
        codes: One code per image, int64 [n] with values 0 .. 2**32 - 1.
        salt: From `salt`; another salt gives other numbers.
        count: Words per image.

    Returns:
        int64 [n, count], uniform over 0 .. 2**32 - 1; word j does not depend on `count`.
    """
    counters = torch.arange(1, count + 1, device=codes.device) * STEP & WORD
    start = _mix(codes.long() ^ salt)
    return _mix((start[:, None] + counters) & WORD)


def uniform(codes: Tensor, salt: int, count: int) -> Tensor:
    """Random numbers for each image, float32 [n, count] in [0, 1); arguments as in `words`."""
    return (words(codes, salt, count) >> (32 - FLOAT_BITS)).float() / 2**FLOAT_BITS


def _mix(word):
    """MurmurHash3's finaliser on 32-bit words; whole numbers or int64 tensors."""
    word = word ^ (word >> 16)
    word = (word * 0x85EBCA6B) & WORD  # int64 products may wrap, their low 32 bits stay right
    word = word ^ (word >> 13)
    word = (word * 0xC2B2AE35) & WORD
    return word ^ (word >> 16)
