"""How many dimensions a number of points can span at most, and how that is said. Without torch."""


def most_dimensions(dim: int, images: int | None) -> int:
    """Dimensions that this many centred rows can span: min(images - 1, dim), at least 1.

    Args:
        dim: Dimensions of the space.
        images: Rows; None if that is not known.
    """
    return dim if images is None else max(1, min(images - 1, dim))


def of_most(most: int, dim: int, images: int | None) -> str:
    """Words for the largest value that a rank can have.

    Args:
        most: That value; for n rows n - 1 where they are centred, as for a covariance, and n where not, as for RankMe.
        dim: Dimensions of the space.
        images: Rows; None if that is not known.

    Returns:
        "of 64", or where the images are what limits it, "of at most 299 with 300 images".
    """
    if images is None or most >= dim:
        return f"of {dim:,}"
    return f"of at most {most:,} with {images:,} image{'' if images == 1 else 's'}"
