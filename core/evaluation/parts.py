"""Local features: which places of an image an encoder treats alike, from its spatial feature maps.

Every place of a feature map is a vector; k-means groups the places of many images, and the groups are laid over the images as
masks. Groups that follow parts of objects mean that the encoder tells parts apart, though nobody told it to.

Source: Chen, Luo, Li, "Intriguing Properties of Contrastive Losses", 2021, section on local features; the settings of
    scikit-learn's k-means, and the baseline of raw pixels, from mona251/Intriguing-Properties-of-Contrastive-Losses.
    Deviations: every spatial stage of the encoder is offered, on images as large as the encoder was trained with.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from torch import Tensor, nn

FEWEST, MOST = 2, 8  # groups
SMALLEST_SIDE = 4  # places a side; coarser maps show no parts
FITTED = 20_000  # places that groups are fitted to; all places are then assigned
STARTS, SEED = 10, 0


class Stage(NamedTuple):
    """One spatial feature map of an encoder, for several images."""

    name: str  # "13 x 13"
    maps: Tensor  # float [n, c, side, side]


def stage_maps(network: nn.Module, images: Tensor, *further: Tensor | None) -> list[Stage]:
    """The last feature map of each size that appears inside a network.

    Args:
        network: Put into eval mode for the call and back afterwards.
        images: Its input, float [n, c, side, side].
        further: More arguments of its forward call.

    Returns:
        From fine to coarse, maps of at least 4 x 4 places; empty where the network has none, as a vision transformer.
    """
    found: dict[int, Tensor] = {}

    def keep(module: nn.Module, arguments: tuple, output) -> None:
        if not isinstance(output, Tensor) or output.ndim != 4 or len(output) != len(images):
            return
        channels, height, width = output.shape[1:]
        learned = channels > images.shape[1]  # the input itself, normalised, is no feature map
        if height == width and SMALLEST_SIDE <= height <= images.shape[-1] and learned:
            found[height] = output.detach().float().cpu()

    handles = [module.register_forward_hook(keep) for module in network.modules()]
    training = network.training
    try:
        with torch.no_grad():
            network.eval()(images, *further)
    except RuntimeError:  # a dense layer at the end refuses images of another size; the maps before it are sound
        if not found:
            raise
    finally:
        network.train(training)
        for handle in handles:
            handle.remove()
    return [Stage(f"{side} x {side}", found[side]) for side in sorted(found, reverse=True)]


def pixel_stage(images: Tensor, side: int) -> Stage:
    """The images themselves, averaged to side x side places: what masks look like without any encoder."""
    return Stage(f"pixels, {side} x {side}", F.interpolate(images, (side, side), mode="area"))


def groups(maps: Tensor, k: int, normalise: bool = True) -> np.ndarray:
    """Which places are alike.

    Args:
        maps: float [n, c, h, w].
        k: Number of groups, 2 to 8.
        normalise: Compare directions of the vectors only; pixels are compared as they are.

    Returns:
        uint8 [n, h, w], group of each place; 0 is the largest group. Fewer groups where there are fewer different places.

    Raises:
        ValueError: If k is out of range, or the maps are not finite.
    """
    if not FEWEST <= k <= MOST:
        raise ValueError(f"k must lie between {FEWEST} and {MOST}, got {k}.")
    if not torch.isfinite(maps).all():
        raise ValueError("The encoder's feature maps are not finite, so their places cannot be grouped.")
    n, channels, height, width = maps.shape
    vectors = maps.permute(0, 2, 3, 1).reshape(-1, channels)
    vectors = (F.normalize(vectors, dim=1) if normalise else vectors).numpy()
    fitted = vectors
    if len(vectors) > FITTED:
        fitted = vectors[np.sort(np.random.default_rng(SEED).permutation(len(vectors))[:FITTED])]
    different = len(np.unique(fitted[:FITTED], axis=0))
    model = KMeans(min(k, different), n_init=STARTS, random_state=SEED).fit(fitted)
    labels = model.predict(vectors)
    by_size = np.argsort(-np.bincount(labels, minlength=model.n_clusters), kind="stable")
    rank = np.empty(model.n_clusters, np.uint8)
    rank[by_size] = np.arange(model.n_clusters)
    return rank[labels].reshape(n, height, width)
