"""RandBit: an easy feature of known size, a few bits per image that both views share.

Each image gets a code, a hash of its pixels. Bit j of the code (little-endian) becomes a constant plane that is appended
to the image channels after augmentation, so both views of an image, in every epoch, carry the same bits. A smaller number
of bits keeps the low ones: the planes for 5 bits are the first five planes for 10 bits.

Source: Chen, Luo, Li, "Intriguing Properties of Contrastive Losses", 2021; google-research/simclr,
    `colabs/intriguing_properties/randbits_mnist.ipynb`. Deviation: the hash is BLAKE2b of the decoded pixels and not
    TensorFlow's hash of the JPEG bytes; codes differ, their distribution does not.
"""

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

MAX_BITS = 32  # a code is 32 bits wide


def codes(images: np.ndarray) -> np.ndarray:
    """One 32-bit code per image: a hash of its pixels.

    The same on every machine, in every process and in any order of the images. Equal images have equal codes.

    Args:
        images: Pixels, uint8 [n, h, w, c].

    Returns:
        Codes, uint32 [n], uniform over 0 .. 2**32 - 1.

    Raises:
        ValueError: If images is not a uint8 array with an image axis.
    """
    if images.dtype != np.uint8 or images.ndim < 2:
        raise ValueError(f"images must be uint8 with shape [n, h, w, c], got {images.dtype} {list(images.shape)}")
    digests = b"".join(blake2b(image, digest_size=4).digest() for image in np.ascontiguousarray(images))
    return np.frombuffer(digests, dtype="<u4").astype(np.uint32)


def bit_matrix(codes: np.ndarray, bits: int) -> np.ndarray:
    """The low bits of each code, one column per bit.

    Args:
        codes: Integers [n], the lowest 32 bits count.
        bits: Number of bits, 0 to 32.

    Returns:
        uint8 [n, bits] with values 0 and 1; column j is bit j (little-endian).

    Raises:
        ValueError: If bits is out of range.
    """
    _check_bits(bits)
    wide = np.asarray(codes).astype(np.int64)  # an int32 that was stored negative keeps its low bits
    return (wide[:, None] >> np.arange(bits) & 1).astype(np.uint8)


def append_bits(x: "Tensor", codes: "Tensor", bits: int) -> "Tensor":
    """Append the low bits of each image's code as constant planes after its channels.

    Args:
        x: Images after augmentation, floating [n, c, h, w].
        codes: Integers [n] on any device.
        bits: Number of planes, 0 to 32.

    Returns:
        [n, c + bits, h, w] in the dtype and on the device of x, channels-last if x is; planes are 0.0 or 1.0. With 0 bits, x
        itself.

    Raises:
        ValueError: If shapes do not match or bits is out of range.
    """
    if x.ndim != 4 or codes.shape != x.shape[:1]:
        raise ValueError(f"codes must hold one code per image: got {list(codes.shape)} for images {list(x.shape)}")
    return append_planes(x, bit_planes(codes.to(x.device), bits))


def bit_planes(codes: "Tensor", bits: int) -> "Tensor":
    """The low bits of each code as floats: what each appended plane holds everywhere.

    Args:
        codes: Integers [n].
        bits: Number of bits, 0 to 32.

    Returns:
        float32 [n, bits] with values 0.0 and 1.0, on the codes' device.

    Raises:
        ValueError: If bits is out of range.
    """
    import torch

    _check_bits(bits)
    return ((codes.to(torch.int64)[:, None] >> torch.arange(bits, device=codes.device)) & 1).float()


def append_planes(x: "Tensor", planes: "Tensor") -> "Tensor":
    """Append channels that hold one value each over the whole image.

    Args:
        x: Images, floating [n, c, h, w].
        planes: Values [n, b].

    Returns:
        [n, c + b, h, w] in the dtype and on the device of x, channels-last if x is; x itself if b is 0.
    """
    import torch

    n, channels, height, width = x.shape
    if planes.shape[1] == 0:
        return x
    channels_last = x.is_contiguous(memory_format=torch.channels_last)  # true as well for a single channel, stored either way
    layout = torch.channels_last if channels_last else torch.contiguous_format
    out = torch.empty((n, channels + planes.shape[1], height, width), dtype=x.dtype, device=x.device, memory_format=layout)
    out[:, :channels] = x
    out[:, channels:] = planes.to(x.dtype)[:, :, None, None]
    return out


def _check_bits(bits: int) -> None:
    if not 0 <= bits <= MAX_BITS:
        raise ValueError(f"bits must lie between 0 and {MAX_BITS}, got {bits}")
