"""Numbers that belong to an image: against a plain-integer oracle, uniform, and the same in any batch."""

import numpy as np
import torch

from core.datasets.keyed import salt, uniform, words


def murmur(word: int) -> int:
    """MurmurHash3's finaliser, written out in Python's unbounded integers."""
    word ^= word >> 16
    word = word * 0x85EBCA6B % 2**32
    word ^= word >> 13
    word = word * 0xC2B2AE35 % 2**32
    return word ^ (word >> 16)


def test_words_agree_with_plain_integers():
    codes, key = [0, 1, 77, 2**31, 2**32 - 1], salt(3, 4)
    steps = [counter * 0x9E3779B9 % 2**32 for counter in (1, 2, 3)]
    expected = [[murmur((murmur(code ^ key) + step) % 2**32) for step in steps] for code in codes]
    assert words(torch.tensor(codes), key, 3).tolist() == expected


def test_an_image_gets_the_same_numbers_in_any_batch():
    codes = torch.tensor([5, 6, 7, 8])
    torch.testing.assert_close(words(codes.flip(0), 1, 4).flip(0), words(codes, 1, 4), rtol=0, atol=0)
    torch.testing.assert_close(words(codes[1:2], 1, 2)[0], words(codes, 1, 4)[1, :2], rtol=0, atol=0)
    assert not torch.equal(words(codes, 1, 4), words(codes, 2, 4))
    assert salt(1, 2) != salt(2, 1)


def test_uniform_is_uniform_even_for_codes_in_a_row():
    numbers = uniform(torch.arange(20_000), salt(0), 3)
    assert numbers.min() >= 0 and numbers.max() < 1
    counts = np.histogram(numbers.numpy(), bins=20, range=(0, 1))[0]
    assert ((counts - 3000) ** 2 / 3000).sum() < 50  # chi-square with 19 degrees of freedom; 43.8 is one in a thousand
    assert np.abs(np.corrcoef(numbers.numpy().T) - np.eye(3)).max() < 0.03
