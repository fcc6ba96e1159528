"""Sizes and places of digits on pictures and canvases: arithmetic that settings are checked with, free of torch."""

OFFICIAL_SIDE, OFFICIAL_DIGIT = 224, 28  # px: pictures and digits of the authors' notebook
DIGIT_OFFSETS = (0.15, 0.45, 0.75)  # upper or left edges of its three rows or columns, shares of the side
CANVAS = 112  # px: usual side of a MultiDigits canvas; a smaller one is more crowded, its digits keep their sizes
FIXED_SIZE, GROWING_SIZES = 20, (20, 30, 40, 50, 60, 70, 80)  # px, nominal: of the 28 px tile
GRID = 4  # cells a side
USUAL_COUNT = {"two_sizes": 2, "grid": 12, "random": 8}  # digits on a canvas
MOST = {"two_sizes": 2, "grid": GRID * GRID, "random": 8}  # random places: more would hardly keep apart


def offsets(side: int) -> tuple[int, ...]:
    """Upper or left edges of the three rows or columns of overlaid digits, pixels: 33, 100 and 168 on 224 px."""
    return tuple(int(side * share) for share in DIGIT_OFFSETS)


def standard_overlay(side: int) -> int:
    """Side of an overlaid digit where none is asked for: an eighth of the picture's side, as officially; at least 1 px."""
    return max(1, round(side * OFFICIAL_DIGIT / OFFICIAL_SIDE))


def largest_overlay(side: int) -> int:
    """Largest side of an overlaid digit whose last copy ends within the picture, pixels: a quarter of the picture's side."""
    return side - offsets(side)[-1]


def growing_sizes(canvas: int) -> tuple[int, ...]:
    """Nominal sides of the growing digit that leave room for the fixed one, pixels: 20 to 80 on 112 px."""
    return tuple(size for size in GROWING_SIZES if size <= canvas - FIXED_SIZE)


def scene_count(scene: str, asked: int) -> int:
    """Digits on a canvas; 0 asks for the usual number."""
    return asked or USUAL_COUNT[scene]


def overlay_problem(side: int, size: int) -> str:
    """Why digits of a size cannot be laid over pictures of a side; empty if they can."""
    most = largest_overlay(side)
    if size <= most:
        return ""
    return (
        f"digit_size: nine copies fit on {side} x {side} px up to {most} px a side, got {size}. "
        "Lower digit_size, or enlarge the images (image_size)."
    )


def scene_problem(scene: str, count: int, canvas: int, size: int) -> str:
    """Why a MultiDigits scene cannot be composed; empty if it can.

    Args:
        scene: "two_sizes", "grid" or "random".
        count: Digits asked for; 0 = usual.
        canvas: Pixels a side.
        size: Nominal side of the growing digit, pixels; 0 = all sizes in turn.
    """
    if count > MOST[scene] or (scene == "two_sizes" and count not in (0, 2)):
        allowed = "exactly 2" if scene == "two_sizes" else f"1 to {MOST[scene]}"
        return f"scene_digits: a {scene} canvas holds {allowed} digits, got {count}"
    if canvas < 2 * FIXED_SIZE:
        return f"image_size: a canvas needs at least {2 * FIXED_SIZE} px a side for digits of {FIXED_SIZE} px, got {canvas}"
    if scene != "two_sizes":
        return "" if not size else f"digit_size: only the two_sizes scene has a growing digit, got {size} with {scene}"
    most = canvas - FIXED_SIZE
    if size > most:
        return (
            f"digit_size: beside the fixed digit of {FIXED_SIZE} px, a canvas of {canvas} px has room for a digit of "
            f"up to {most} px, got {size}"
        )
    return ""
