"""MultiDigits: several MNIST digits on one empty canvas, none over another.

Three scenes. "two_sizes": one digit of a fixed size, whose class is the picture's, beside one that grows from run to run.
"grid": digits in free cells of a 4 x 4 grid. "random": digits at random places. Evaluation of the last two shows the picture's
own digit alone: can an encoder that saw many digits at once tell a single one?

Sizes are nominal, as in the source: the 28 px tile is resized to them, then cut to the digit's bounding box, which fills about
20 of 28 pixels.

Source: Chen, Luo, Li, "Intriguing Properties of Contrastive Losses", 2021, without public code; sizes, grid and order of
    operations from mona251/Intriguing-Properties-of-Contrastive-Losses. Deviations: pixelwise maximum, and digits keep apart,
    where that code adds them up and lets them overlap. Ours too: with
    digit_draw "views" each view has places of its own. Otherwise the layout of a canvas is an easy feature that both views share,
    and short training learns that instead of any digit.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from core.datasets.dataset import Split
from core.datasets.digit_layout import CANVAS, FIXED_SIZE, GRID, growing_sizes, scene_count
from core.datasets.digit_on_image import EVALUATION, resized
from core.datasets.keyed import salt, uniform, words
from core.datasets.rivals import Drawn, Occasion
from core.training.spec import RunSpec

CANDIDATES = 64  # places that are looked at for each digit
OTHERS, SIZES, PLACES = 1, 2, 3  # salts of the different draws


class Boxes(NamedTuple):
    """Bounding boxes of the ink in square tiles; all int64 [n]."""

    top: Tensor
    left: Tensor
    height: Tensor
    width: Tensor


def ink_boxes(tiles: Tensor) -> Boxes:
    """Where the ink of each tile [n, s, s] begins and how far it reaches; an empty tile has a box of one pixel."""
    ink = tiles > 0
    (top, height), (left, width) = (_extent(ink.any(axis)) for axis in (2, 1))
    return Boxes(top, left, height, width)


def _extent(used: Tensor) -> tuple[Tensor, Tensor]:
    """First used place and length up to the last one, of rows [n, s] of booleans."""
    first = used.byte().argmax(1)
    last = used.shape[1] - 1 - used.flip(1).byte().argmax(1)
    return first, torch.where(used.any(1), last - first + 1, 1)


def free_places(
    boxes: Boxes, taken: list[tuple[Tensor, Tensor, Tensor, Tensor]], numbers: Tensor, side: int
) -> tuple[Tensor, Tensor]:
    """A place for each box that touches no taken one.

    Args:
        boxes: Height and width of what is to be placed, [n].
        taken: Top, left, height, width of what is there already, each [n].
        numbers: Uniform random numbers [n, candidates, 2].
        side: Pixels a side of the canvas.

    Returns:
        Top and left [n] of the first candidate that is free; where none is, of the one with the least overlap.
    """
    top = (numbers[..., 0] * (side - boxes.height + 1)[:, None]).long()  # [n, candidates]
    left = (numbers[..., 1] * (side - boxes.width + 1)[:, None]).long()
    overlap = torch.zeros_like(top)
    for other_top, other_left, height, width in taken:
        down = _common(top, boxes.height[:, None], other_top[:, None], height[:, None])
        across = _common(left, boxes.width[:, None], other_left[:, None], width[:, None])
        overlap += down * across
    choice = overlap.argmin(1, keepdim=True)  # the first of the least
    return top.gather(1, choice)[:, 0], left.gather(1, choice)[:, 0]


def _common(start: Tensor, length: Tensor, other: Tensor, other_length: Tensor) -> Tensor:
    """Pixels that two ranges share."""
    return (torch.minimum(start + length, other + other_length) - torch.maximum(start, other)).clamp_min(0)


def paste(canvas: Tensor, tiles: Tensor, top: Tensor, left: Tensor) -> None:
    """Lay tiles onto canvases by pixelwise maximum, in place.

    Args:
        canvas: uint8 [n, side, side].
        tiles: uint8 [n, s, s].
        top: Row of each tile's upper edge, [n]; may be negative or reach beyond the canvas, as empty margins do.
        left: Column of its left edge.
    """
    side, size = canvas.shape[-1], tiles.shape[-1]
    steps = torch.arange(size, device=canvas.device)
    rows, columns = top[:, None] + steps, left[:, None] + steps  # [n, s]
    inside = ((rows >= 0) & (rows < side))[:, :, None] & ((columns >= 0) & (columns < side))[:, None]
    spare = side * side  # a place beyond the canvas takes what falls outside
    places = torch.where(inside, rows[:, :, None] * side + columns[:, None], spare).flatten(1)
    flat = torch.cat((canvas.flatten(1), canvas.new_zeros(len(canvas), 1)), 1)
    flat.scatter_(1, places, torch.maximum(flat.gather(1, places), tiles.flatten(1)))
    canvas.copy_(flat[:, :spare].view_as(canvas))


class MultiDigits:
    """Composes canvases from the digits of a data set.

    Args:
        spec: Its fields scene, scene_digits, digit_size, digit_draw, image_size and seed are used.
        train: Training digits, uint8 [n, 28, 28, 1].
        test: Test digits.
        device: Where pictures are composed.

    Attributes:
        side, channels: Of the canvas.
        metric: RunResult field of the rival's probe; None where no single digit is the rival.
        notes: What a result should say about the scenes.
    """

    channels = 1
    own_features = False  # its probe looks at the pictures of the class probe

    def __init__(self, spec: RunSpec, train: Split, test: Split, device: torch.device):
        self.side = spec.image_size or CANVAS
        self.scene, self.seed, self.fixed = spec.scene, spec.seed, spec.digit_draw == "fixed"
        self.apart = spec.digit_draw == "views"
        self.metric = "large_digit_accuracy" if spec.scene == "two_sizes" else None
        self.count = scene_count(spec.scene, spec.scene_digits)
        self.sizes = (spec.digit_size,) if spec.digit_size else growing_sizes(self.side)
        parts = {True: train, False: test}
        self.digits = {part: torch.tensor(split.images[..., 0], device=device) for part, split in parts.items()}
        self.classes = {part: torch.tensor(split.labels, device=device) for part, split in parts.items()}
        self.notes = (self._note(),)

    def draw(self, images: Tensor, rows: Tensor, codes: Tensor, occasion: Occasion) -> Drawn:
        """A canvas for each digit.

        Args:
            images: Not used: digits are looked up by row.
            rows: Row of each digit in its split, int64 [n].
            codes: Its code, int64 [n]; decides the other digits and all places.
            occasion: Evaluation of "grid" and "random" shows the digit alone.
        """
        key = self._key(occasion)
        places = salt(key, PLACES, occasion.view if self.apart else 0)
        count = self.count if self.scene == "two_sizes" or occasion.turn is not None else 1
        pool, rows = self.digits[occasion.train], rows.to(codes.device)
        others = words(codes, salt(key, OTHERS), count)[:, 1:] % len(pool)
        which = torch.cat((rows[:, None], others), 1)  # [n, count], the picture's own digit first
        canvas = pool.new_zeros(len(rows), self.side, self.side)
        rival = torch.full_like(rows, -1)
        if self.scene == "two_sizes":
            sizes = words(codes, salt(key, SIZES), 1)[:, 0] % len(self.sizes)
            self._two_sizes(canvas, pool[which[:, 0]], pool[which[:, 1]], sizes, codes, places)
            rival = self.classes[occasion.train][which[:, 1]]
        elif self.scene == "grid":
            self._fill_grid(canvas, [pool[digits] for digits in which.T], codes, places)
        else:
            self._scatter(canvas, [(resized(pool[digits], FIXED_SIZE), k) for k, digits in enumerate(which.T)], codes, places)
        return Drawn(canvas[:, None], rival)

    def _key(self, occasion: Occasion) -> int:
        if self.fixed:
            return salt(self.seed)
        return salt(self.seed, EVALUATION) if occasion.turn is None else salt(self.seed, 0, occasion.turn)

    def _two_sizes(self, canvas: Tensor, small: Tensor, large: Tensor, sizes: Tensor, codes: Tensor, places: int) -> None:
        """The growing digit first, the fixed one where it is free."""
        for number, size in enumerate(self.sizes):
            some = slice(None) if len(self.sizes) == 1 else (sizes == number).nonzero()[:, 0]
            part = canvas[some]  # a copy when sizes are mixed
            self._scatter(part, [(resized(large[some], size), 1), (resized(small[some], FIXED_SIZE), 0)], codes[some], places)
            canvas[some] = part

    def _scatter(self, canvas: Tensor, tiles: list[tuple[Tensor, int]], codes: Tensor, places: int) -> None:
        """Tiles at random free places, in the given order; the number beside each names its draw."""
        taken = []
        for digits, number in tiles:
            boxes = ink_boxes(digits)
            numbers = uniform(codes, salt(places, number), 2 * CANDIDATES).view(-1, CANDIDATES, 2)
            top, left = free_places(boxes, taken, numbers, self.side)
            paste(canvas, digits, top - boxes.top, left - boxes.left)
            taken.append((top, left, boxes.height, boxes.width))

    def _fill_grid(self, canvas: Tensor, digits: list[Tensor], codes: Tensor, places: int) -> None:
        """One digit in each of some random cells."""
        cell = self.side // GRID
        cells = uniform(codes, places, GRID * GRID).argsort(1)  # [n, 16], every order equally likely
        for tile, place in zip(digits, cells.T, strict=False):
            paste(canvas, resized(tile, cell), place // GRID * cell, place % GRID * cell)

    def _note(self) -> str:
        if self.scene != "two_sizes":
            return (
                f"{self.count} digits on a canvas of {self.side} px in training, {self.scene} places; "
                "evaluated on canvases that hold the picture's own digit alone"
            )
        sizes = ", ".join(map(str, self.sizes))
        return (
            f"two digits on a canvas of {self.side} px, nominal sizes {FIXED_SIZE} px and {sizes} px; "
            "the class is the first one's"
        )
