"""What is measured on representations: numbers for the summary, arrays for the figures. Tensors in, plain values out.

The arrays of an inspection, for the n test images without augmentation (suffix h or z; those of z only with a projector):

    h float16 [n, d_h], z float16 [n, d_z]   as the encoder and its projector return them
    labels, index, predicted int64 [n]       class, row in the test split, class that the linear probe on h says
    code uint32 [n]                          RandBit code, for encoders with such channels
    singular_* float64 [d]                   eigenvalues of the covariance of the unit rows, which are its singular values
    pca_* float32 [n, 3], tsne_* float32 [n, 2]   maps; rows beyond `MAP_ROWS` have no place in the second (NaN)
    cos_edges float64 [bins + 1], cos_positive_*, cos_same_*, cos_different_* int64 [bins]   cosines of pairs
    confusion int64 [k, k]                   rows: class, columns: predicted
    neighbours int32 [n, 10], neighbour_cosine float16 [n, 10]   nearest other test images in h, by cosine
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.manifold import TSNE
from torch import Tensor

from core import geometry
from core.evaluation import bit_probes, knn, linear_probe
from core.evaluation.linear_probe import stratified_rows
from core.training.measure import pca3

NEIGHBOURS = 10
MAP_ROWS = 1500  # t-SNE of more rows takes minutes
PERPLEXITY = 30.0
BINS = 200
BLOCK = 2048  # rows whose similarities are held at a time


class Features(NamedTuple):
    """What an encoder, or its projector, made of the images."""

    train: Tensor  # [m, d] float32
    test: Tensor  # [n, d]
    views: tuple[Tensor, Tensor]  # two augmented views of the test images, [n, d] each
    altered: dict[str, Tensor]  # by the name of the alteration, [n, d]


class Probed(NamedTuple):
    """What a linear probe, fitted on plain training images, says."""

    accuracy: float
    predicted: np.ndarray  # int64 [n], of the plain test images
    altered: dict[str, float]  # accuracy on the altered test images
    numbers: dict[str, Any]  # for the summary


def probes(features: Features, y_train: np.ndarray, y_test: np.ndarray) -> Probed:
    """Linear probe and nearest neighbours. One fit serves the plain and the altered images.

    Raises:
        ValueError: If features are not finite, or the training images show one class only.
    """
    x_train, n = features.train.numpy(), len(y_test)
    every = torch.cat([features.test, *features.altered.values()]).numpy()
    linear = linear_probe(x_train, y_train, every, np.tile(y_test, 1 + len(features.altered)))
    right = (linear.predicted.reshape(-1, n) == y_test).mean(axis=1)
    near = knn(x_train, y_train, features.test.numpy(), y_test)
    numbers = {
        "linear_accuracy": float(right[0]),
        "linear_c": linear.c,
        "linear_converged": linear.converged,
        "knn_accuracy": near.accuracy,
        "knn_k": near.k,
    }
    altered = dict(zip(features.altered, map(float, right[1:]), strict=True))
    return Probed(float(right[0]), linear.predicted[:n], altered, numbers)


def sphere_numbers(features: Features, labels: np.ndarray) -> dict[str, Any]:
    """Where the test images lie on the sphere, beside the exact values for uniform points.

    Rows of zeros have no direction; they are counted and left out of the uniformity tests.
    """
    z, dim = features.test, features.test.shape[1]
    zero = geometry.zero_rows(z)
    numbers: dict[str, Any] = {
        "dim": dim,
        "rows": len(z),
        "zero_rows": zero,
        "norm": float(z.norm(dim=1).mean()),
        "alignment": geometry.alignment(*features.views),
        "uniformity": geometry.uniformity(z),
        "uniformity_optimum": geometry.uniform_optimum(dim),
        "uniformity_bound": geometry.finite_sample_bound(len(z), dim),
        "tolerance": geometry.tolerance(z, labels) if _has_pairs(labels) else None,
        "rankme": geometry.rankme(z),
        "rankme_most": min(len(z), dim),
        "participation_ratio": geometry.participation_ratio(z),
        "dead_dimensions": geometry.dead_dimensions(z) if z.std() > 0 else dim,
    }
    directed = z[(z != 0).any(dim=1)].numpy()
    if dim >= 2 and len(directed) >= 2:
        numbers["rayleigh"] = geometry.rayleigh(directed)._asdict()
        numbers["bingham"] = geometry.bingham(directed)._asdict()
        numbers["cosine_gap"] = geometry.cosine_gap(directed)._asdict()
    return numbers


def sphere_arrays(features: Features, labels: np.ndarray, suffix: str) -> dict[str, np.ndarray]:
    """Spectrum, histograms of cosines and the principal axes of one space."""
    z = features.test
    first, second = features.views
    found = geometry.similarity_histograms(z, labels, bins=BINS)
    positive = geometry.similarity_histograms(first, z2=second, bins=BINS).positive
    return {
        suffix: z.half().numpy(),
        f"singular_{suffix}": geometry.spectrum(z),
        f"pca_{suffix}": pca3(torch.nn.functional.normalize(z, dim=1)),
        "cos_edges": found.edges,
        f"cos_positive_{suffix}": positive,
        f"cos_same_{suffix}": found.same_class,
        f"cos_different_{suffix}": found.different_class,
    }


def tsne(z: Tensor, labels: np.ndarray, seed: int) -> np.ndarray:
    """A map that keeps neighbours together: t-SNE on cosine distances, float32 [n, 2].

    Rows beyond `MAP_ROWS`, stratified by class, are NaN; all of them where fewer than 5 rows or one point are left.
    """
    place = np.full((len(z), 2), np.nan, dtype=np.float32)
    rows = stratified_rows(labels, MAP_ROWS, seed)
    unit = torch.nn.functional.normalize(z[rows], dim=1)
    if len(rows) < 5 or float(unit.std(dim=0).max()) < 1e-6:
        return place
    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    start = pca3(unit)[:, :2]
    spread = float(start[:, 0].std()) or 1.0
    # On unit rows the squared Euclidean distance is twice the cosine distance, and the search for neighbours is faster.
    model = TSNE(perplexity=perplexity, init=start / spread * 1e-4, random_state=seed, max_iter=750)
    place[rows] = model.fit_transform(unit.numpy())
    return place


def neighbours(z: Tensor, count: int = NEIGHBOURS) -> tuple[np.ndarray, np.ndarray]:
    """The most similar other rows of each row, and their cosines: int32 [n, count], float16 [n, count]."""
    unit = torch.nn.functional.normalize(z, dim=1)
    count = min(count, len(z) - 1)
    rows, cosines = [], []
    for start in range(0, len(z), BLOCK):
        part = unit[start : start + BLOCK] @ unit.T
        part[torch.arange(len(part)), torch.arange(start, start + len(part))] = -2  # not itself
        found = part.topk(count, dim=1)
        rows.append(found.indices)
        cosines.append(found.values)
    return torch.cat(rows).numpy().astype(np.int32), torch.cat(cosines).half().numpy()


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """How often each class was taken for each: int64 [k, k], rows the class, columns the prediction."""
    counts = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(counts, (labels, predicted), 1)
    return counts


def pull(test: Tensor, altered: Tensor, partner: np.ndarray | None) -> dict[str, float]:
    """How alike an image stays to itself under an alteration, and to the image from which it borrowed the feature.

    Cosines are taken around the mean of all plain test images, which representations without negative values share.

    Args:
        test: Plain test images, [n, d].
        altered: The same under the alteration.
        partner: Row whose competing feature each row now carries, or None.

    Returns:
        Mean cosines: "same_image"; with a partner also "same_feature" (another image, the same feature) and "neither".
    """
    centre = test.mean(dim=0)
    plain, moved = test - centre, altered - centre
    cosine = torch.nn.functional.cosine_similarity
    found = {"same_image": float(cosine(plain, moved).mean())}
    if partner is not None:
        other = plain[torch.from_numpy(partner)]
        found |= {"same_feature": float(cosine(other, moved).mean()), "neither": float(cosine(plain, other).mean())}
    return found


def bits_known(features: Features, codes: tuple[np.ndarray, np.ndarray], bits: int) -> dict[str, Any]:
    """How well each RandBit can be read from h: accuracies of one logistic probe per bit, and what they recover in bits."""
    found = bit_probes(features.train.numpy(), codes[0], features.test.numpy(), codes[1], bits)
    return {"accuracies": [round(value, 4) for value in found.accuracies], "known": found.known, "bits": bits}


def plain(value: Any) -> Any:
    """The same value as JSON holds it: NumPy numbers become Python's, what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _has_pairs(labels: np.ndarray) -> bool:
    return bool((np.unique(labels, return_counts=True)[1] > 1).any())
