"""Image files of all kinds become 8-bit grey or RGB pixels."""

import numpy as np
import pytest
from PIL import Image

from core.datasets.pictures import is_gray, read_header, read_pixels, resize, resize_array


def gradient(height=6, width=8):
    return np.arange(height * width, dtype=np.uint8).reshape(height, width) * 5


def test_gray_and_rgb_come_back_as_stored(tmp_path, save_image):
    gray = gradient()
    color = np.stack([gray, 255 - gray, gray // 2], -1)
    assert np.array_equal(read_pixels(save_image(tmp_path / "gray.png", gray), 1)[..., 0], gray)
    assert np.array_equal(read_pixels(save_image(tmp_path / "color.png", color), 3), color)
    assert np.array_equal(read_pixels(tmp_path / "gray.png", 3), np.repeat(gray[..., None], 3, -1))
    luma = read_pixels(tmp_path / "color.png", 1)[..., 0].astype(float)
    assert np.abs(luma - color @ [0.299, 0.587, 0.114]).max() <= 1


def test_transparent_pixels_show_white(tmp_path, save_image):
    """RGBA: half-transparent red on white is pink; fully transparent pixels hide whatever colour they hold."""
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0] = [255, 0, 0, 255], [255, 0, 0, 128], [0, 0, 0, 0]
    pixels = read_pixels(save_image(tmp_path / "a.png", rgba), 3)
    assert pixels[0].tolist() == [[255, 0, 0], [255, 127, 127], [255, 255, 255]]
    gray, alpha = (Image.fromarray(np.array([values], np.uint8)) for values in ([10, 10], [255, 0]))
    gray_alpha = Image.merge("LA", [gray, alpha])
    assert read_pixels(save_image(tmp_path / "la.png", gray_alpha), 1)[..., 0].tolist() == [[10, 255]]


def test_palettes_become_colors(tmp_path, save_image):
    palette = Image.fromarray(np.array([[0, 1, 2]], np.uint8), "P")
    palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    assert read_pixels(save_image(tmp_path / "p.png", palette), 3)[0].tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    transparent = read_pixels(save_image(tmp_path / "t.png", palette, transparency=1), 3)
    assert transparent[0].tolist() == [[255, 0, 0], [255, 255, 255], [0, 0, 255]]


def test_sixteen_bits_keep_their_upper_eight(tmp_path, save_image):
    """Pillow's own conversion clips 16-bit values at 255: everything would be white."""
    values = np.array([[0, 257, 32768, 65535]], np.uint16)
    for name in ("deep.png", "deep.tif"):
        path = save_image(tmp_path / name, values)
        assert read_pixels(path, 1)[..., 0].tolist() == [[0, 1, 128, 255]]
        assert read_header(path).gray


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0, 0.5, 1]], np.float32), [0, 128, 255]),
        (np.array([[0, 128, 255]], np.float32), [0, 128, 255]),
        (np.array([[0, np.nan, 1]], np.float32), [0, 0, 255]),
        (np.array([[0, 128, 255]], np.int32), [0, 128, 255]),
        (np.array([[0, 65535]], np.int32), [0, 255]),
    ],
)
def test_floating_and_32_bit_images(tmp_path, save_image, values, expected):
    assert read_pixels(save_image(tmp_path / "image.tif", values), 1)[..., 0].tolist() == [expected]


def test_black_and_white_and_cmyk(tmp_path, save_image):
    bits = Image.fromarray(np.array([[0, 255]], np.uint8)).convert("1")
    assert read_pixels(save_image(tmp_path / "bits.png", bits), 1)[..., 0].tolist() == [[0, 255]]
    cmyk = Image.new("CMYK", (2, 2), (0, 0, 0, 0))
    assert (read_pixels(save_image(tmp_path / "cmyk.tif", cmyk), 3) == 255).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_cameras_orientation_is_applied(tmp_path, save_image, orientation):
    """Header and pixels agree on the size; the pixels are turned as EXIF says."""
    array = gradient(4, 7)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = save_image(tmp_path / "turned.png", array, exif=exif)
    turned = {1: array, 2: array[:, ::-1], 3: array[::-1, ::-1], 4: array[::-1], 5: array.T, 6: np.rot90(array, -1),
              7: array[::-1, ::-1].T, 8: np.rot90(array)}[orientation]
    header = read_header(path)
    assert (header.height, header.width) == turned.shape
    assert np.array_equal(read_pixels(path, 1)[..., 0], turned)


def test_of_an_animation_the_first_frame_is_taken(tmp_path):
    frames = [Image.new("L", (4, 4), shade) for shade in (10, 200)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    assert (read_pixels(tmp_path / "moving.gif", 1) == 10).all()


def test_one_pixel(tmp_path, save_image):
    path = save_image(tmp_path / "one.png", np.array([[[1, 2, 3]]], np.uint8))
    assert read_pixels(path, 3, (5, 5)).tolist() == [[[1, 2, 3]] * 5] * 5


def test_shrinking_averages_and_growing_is_smooth():
    """A fine checkerboard shrinks to grey (without averaging it would stay black or white); a ramp grows without steps."""
    board = (np.indices((64, 64)).sum(0) % 2 * 255).astype(np.uint8)[..., None]
    assert np.abs(resize_array(board, (8, 8)).astype(int) - 128)[1:-1, 1:-1].max() <= 12
    ramp = np.linspace(0, 255, 8).astype(np.uint8)[None, :, None].repeat(8, 0)
    grown = resize_array(ramp, (32, 32))[:, :, 0].astype(int)
    assert (np.diff(grown, axis=1) >= 0).all() and np.diff(grown, axis=1).max() <= 10


def test_the_same_size_changes_nothing():
    image = Image.fromarray(gradient())
    assert resize(image, (6, 8)) is image


@pytest.mark.parametrize("cut", [0, 3, 30, -10])
def test_damaged_files_raise(tmp_path, save_image, cut):
    path = save_image(tmp_path / "photo.jpg", np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(OSError):
        read_pixels(path, 3)


def test_is_gray():
    assert is_gray(np.full((3, 3, 3), 7, np.uint8))
    assert not is_gray(np.dstack([np.full((3, 3), shade, np.uint8) for shade in (7, 7, 8)]))
