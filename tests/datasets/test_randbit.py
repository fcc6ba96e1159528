"""RandBit codes and bit planes."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chi2

from core.datasets import load
from core.datasets.augment import two_views
from core.datasets.randbit import append_bits, bit_matrix, codes
from core.training.spec import RunSpec

images = hnp.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 3])))
any_codes = hnp.arrays(np.uint32, st.integers(1, 8))


def test_codes_are_pinned():
    """The codes of published runs must never change: they are part of what a run is."""
    ramp = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    assert codes(ramp).tolist() == PINNED
    assert codes(ramp).dtype == np.uint32


PINNED = [3149706540, 969376104]  # BLAKE2b with a digest of 4 bytes, read little-endian


@given(images)
def test_codes_depend_on_pixels_only(pixels):
    """Order, memory layout, read-only memory and position in a larger batch do not matter; equal images, equal codes."""
    expected = codes(pixels)
    assert (codes(pixels[::-1])[::-1] == expected).all()
    assert (codes(np.asfortranarray(pixels)) == expected).all()
    assert (codes(np.concatenate([pixels, pixels])) == np.tile(expected, 2)).all()
    frozen = pixels.copy()
    frozen.flags.writeable = False
    assert (codes(frozen) == expected).all()


def test_one_changed_pixel_changes_the_code():
    pixels = np.zeros((2, 28, 28, 1), np.uint8)
    pixels[1, 13, 7, 0] = 1
    first, second = codes(pixels)
    assert first != second


def test_codes_are_the_same_in_another_process():
    """Python's own hash() is salted per process; these codes are not."""
    script = "import numpy as np; from core.datasets.randbit import codes; print(codes(np.full((1, 3, 3, 1), 7, np.uint8))[0])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == f"{codes(np.full((1, 3, 3, 1), 7, np.uint8))[0]}\n"


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_codes_are_uniform(bits):
    """Chi-square test over all bins of the low bits, 20,000 nearly equal images; fails by chance once in 10,000 hashes."""
    n = 20_000
    pixels = np.zeros((n, 4, 1, 1), np.uint8)
    pixels.reshape(n, 4)[:] = np.arange(n, dtype="<u4").view(np.uint8).reshape(n, 4)
    counts = np.bincount(codes(pixels) & (2**bits - 1), minlength=2**bits)
    expected = n / 2**bits
    assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-4, 2**bits - 1)


def test_bits_are_independent():
    """Each of the 32 bits is set in half of the images, and no two bits go together (4.5 standard deviations)."""
    pixels = np.random.default_rng(0).integers(0, 256, (20_000, 6, 6, 1), np.uint8)
    signs = bit_matrix(codes(pixels), 32) * 2.0 - 1
    together = signs.T @ signs / np.sqrt(len(signs))
    assert np.abs(signs.mean(0)).max() * np.sqrt(len(signs)) < 4.5
    assert np.abs(together[~np.eye(32, dtype=bool)]).max() < 4.5


@given(any_codes, st.integers(0, 32))
def test_bit_matrix_is_binary_little_endian_and_nested(values, bits):
    matrix = bit_matrix(values, bits)
    assert matrix.shape == (len(values), bits) and set(np.unique(matrix)) <= {0, 1}
    assert (bit_matrix(values, 32)[:, :bits] == matrix).all()
    assert [sum(int(bit) << j for j, bit in enumerate(row)) for row in matrix] == [int(v) % 2**bits for v in values]


@settings(deadline=None)
@given(any_codes, st.integers(0, 32), st.sampled_from([1, 3]), st.booleans(), st.sampled_from([torch.float32, torch.bfloat16]))
def test_append_bits_adds_constant_planes(values, bits, channels, channels_last, dtype):
    """The image stays as it is; plane j is bit j of the code everywhere, exactly 0.0 or 1.0."""
    x = torch.rand(len(values), channels, 4, 5, generator=torch.Generator().manual_seed(0)).to(dtype)
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last)
    out = append_bits(x, torch.from_numpy(values.astype(np.int64)), bits)
    assert out.shape == (len(values), channels + bits, 4, 5) and out.dtype == dtype
    assert torch.equal(out[:, :channels], x)
    planes = torch.from_numpy(bit_matrix(values, bits)).to(dtype)[:, :, None, None].expand(-1, -1, 4, 5)
    assert torch.equal(out[:, channels:], planes)
    assert torch.equal(append_bits(x, torch.from_numpy(values.astype(np.int64)), 32)[:, : channels + bits], out)
    if channels_last:
        assert out.is_contiguous(memory_format=torch.channels_last)


def test_append_bits_takes_codes_of_any_integer_type():
    """numpy's uint32 codes arrive as uint32, int64 or, wrapped, int32 tensors: the planes are the same."""
    values = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    x = torch.zeros(4, 1, 2, 2)
    expected = append_bits(x, torch.from_numpy(values.astype(np.int64)), 32)
    assert torch.equal(append_bits(x, torch.from_numpy(values), 32), expected)
    assert torch.equal(append_bits(x, torch.from_numpy(values.view(np.int32)), 32), expected)


@pytest.mark.parametrize("recipe", ["crop", "simclr"])
def test_views_and_epochs_share_their_bits(recipe):
    """Two views, two epochs: pixels differ, planes do not. Test images carry the bits of their own pixels."""
    data = load(RunSpec(n_train=250, n_test=20))
    for split in (data.train, data.test):
        tensor = torch.from_numpy(split.images[:20].copy()).permute(0, 3, 1, 2)
        code = torch.from_numpy(codes(split.images[:20]).astype(np.int64))
        generator = torch.Generator().manual_seed(0)
        views = [append_bits(view, code, 7) for _ in range(2) for view in two_views(tensor, recipe, 0.5, generator)]
        expected = torch.from_numpy(bit_matrix(codes(split.images[:20]), 7)).float()
        for view in views:
            assert torch.equal(view[:, 1:].amax((2, 3)), expected) and torch.equal(view[:, 1:].amin((2, 3)), expected)
        assert not torch.equal(views[0][:, :1], views[1][:, :1]) and not torch.equal(views[0][:, :1], views[2][:, :1])


def test_wrong_input_is_named():
    with pytest.raises(ValueError) as error:
        codes(np.zeros((2, 3, 3, 1), np.float32))
    assert str(error.value) == "images must be uint8 with shape [n, h, w, c], got float32 [2, 3, 3, 1]"
    with pytest.raises(ValueError) as error:
        bit_matrix(np.zeros(2, np.uint32), 33)
    assert str(error.value) == "bits must lie between 0 and 32, got 33"
    with pytest.raises(ValueError) as error:
        append_bits(torch.zeros(2, 1, 3, 3), torch.zeros(3, dtype=torch.int64), 2)
    assert str(error.value) == "codes must hold one code per image: got [3] for images [2, 1, 3, 3]"
