"""Single image files: whatever a person has in a folder becomes 8-bit grey or RGB pixels of a wanted size."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import ExifTags, Image, ImageOps

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm"})
GRAY_MODES = frozenset({"1", "L", "LA", "La", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
TURNED = frozenset({5, 6, 7, 8})  # EXIF orientations that swap height and width
BACKGROUND = 255  # what shows through transparent pixels: white


class Header(NamedTuple):
    """What the beginning of an image file says."""

    height: int  # pixels, as shown: after the camera's orientation is applied
    width: int
    gray: bool  # stored without colour; colour files may still be grey to look at


def read_header(path: Path) -> Header:
    """Size and kind of an image file, without decoding it. Raises what Pillow raises for a file it cannot read."""
    with _open(path) as image:
        width, height = image.size
        if image.getexif().get(ExifTags.Base.Orientation) in TURNED:
            width, height = height, width
        return Header(height, width, image.mode in GRAY_MODES)


def read_pixels(path: Path, channels: int, size: tuple[int, int] | None = None) -> np.ndarray:
    """Decode an image file.

    The camera's orientation is applied, transparent pixels show white, palettes become colours, 16-bit values keep their
    upper 8 bits (rounded), and of an animation the first frame is taken.

    Args:
        path: The file.
        channels: 1 for grey, 3 for RGB.
        size: Height and width to stretch to, pixels; None keeps the image's own.

    Returns:
        uint8 [h, w, channels].

    Raises:
        OSError: If the file is damaged, incomplete, or no image. Pillow's readers may raise other exceptions, too.
    """
    with _open(path) as opened:
        opened.load()
        image = _eight_bit(ImageOps.exif_transpose(opened))
    image = _on_background(image).convert("L" if channels == 1 else "RGB")
    if size is not None:
        image = resize(image, size)
    return np.asarray(image).reshape(image.height, image.width, channels)


def resize(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Stretch an 8-bit image to (height, width) pixels: bilinear, averaging over the source pixels where it shrinks."""
    height, width = size
    return image if image.size == (width, height) else image.resize((width, height), Image.Resampling.BILINEAR)


def resize_array(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The same for pixels in an array, uint8 [h, w, c] with c = 1 or 3."""
    channels = image.shape[2]
    picture = resize(Image.fromarray(image[..., 0] if channels == 1 else image), size)
    return np.asarray(picture).reshape(*size, channels)


def is_gray(pixels: np.ndarray) -> bool:
    """Whether RGB pixels [h, w, 3] are grey to look at: all channels equal."""
    return bool((pixels == pixels[..., :1]).all())


def _open(path: Path) -> Image.Image:
    """Open an image file. Anything else, such as a named pipe, could make us wait for ever."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("not a regular file")
    return Image.open(path)


def _eight_bit(image: Image.Image) -> Image.Image:
    """16-bit, 32-bit and floating grey images as 8-bit grey; others as they are."""
    if image.mode not in {"I", "F"} and not image.mode.startswith("I;16"):
        return image
    values = np.asarray(image).astype(np.float64)
    if image.mode == "F":  # by convention 0..1; files in 0..255 exist as well
        values = np.nan_to_num(values) * (255 if np.nanmax(values, initial=0) <= 1 else 1)
    elif image.mode != "I" or values.max(initial=0) > 255:  # mode I is how some 16-bit files are opened
        values = values / 257
    return Image.fromarray(values.round().clip(0, 255).astype(np.uint8))


def _on_background(image: Image.Image) -> Image.Image:
    """The image without transparency: laid on the background."""
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    ground = Image.new("RGBA", image.size, (BACKGROUND,) * 4)
    return Image.alpha_composite(ground, image)
