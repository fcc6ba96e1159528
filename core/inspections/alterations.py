"""Alterations: what is done to test images to learn which features an encoder uses. Words only; `alter` has the operations."""

from typing import NamedTuple


class Alteration(NamedTuple):
    """One way to change an image while its class stays the same."""

    title: str  # as in a chart: "other random bits"
    sentence: str  # what is done, and what a fall in accuracy then means


ALTERATIONS: dict[str, Alteration] = {
    "other_bits": Alteration(
        "other random bits",
        "Each test image carries the RandBit code of another one. An encoder that reads the class from the image does not care.",
    ),
    "no_bits": Alteration(
        "bits switched off", "All RandBit channels are zero. Accuracy falls as far as the bits pushed the embedding around."
    ),
    "grey": Alteration("colour removed", "Images are turned to grey. Accuracy falls as far as the class was told by colour."),
    "digits": Alteration(
        "digits on top",
        "Nine copies of a digit are laid over each image. Accuracy falls as far as such easy marks drown the class.",
    ),
    "coarse": Alteration(
        "fine detail removed",
        "Images are reduced to a quarter of their resolution and enlarged again. Accuracy falls as far as it rests on texture.",
    ),
    "tiles": Alteration(
        "tiles shuffled", "Images are cut into 4 × 4 tiles that change places. Accuracy falls as far as it rests on shape."
    ),
}
