"""What learners often get wrong about InfoNCE and its temperature, each with the correction in one or two sentences."""

from typing import NamedTuple


class Slip(NamedTuple):
    """A common claim and what is right."""

    claim: str
    right: str


SLIPS: dict[str, Slip] = {
    "terms": Slip(
        "K is the number of negatives, so it is a K-way choice.", "The softmax has K + 1 terms: K negatives and the positive."
    ),
    "hard_false": Slip(
        "Hard negatives are samples mistaken for negatives.",
        "Hard means most similar to the anchor; false means of the same kind as the anchor. A small tau hurts where the two "
        "overlap.",
    ),
    "only_k_differs": Slip(
        "InfoNCE is cross entropy, only the number of classes differs.",
        "The formula is the same, but the class weights are other samples' features, and the right answer is always the "
        "positive.",
    ),
    "smaller_exponentials": Slip(
        "With a large tau the exponentials become even smaller.",
        "Dividing shrinks the logit towards 0 from both sides, so the exponentials of negative scores grow towards 1.",
    ),
    "only_smoothing": Slip(
        "The temperature only smooths the softmax.",
        "It also scales the gradient by 1/tau, and so acts on the learning rate; it sets the width of the kernel, kappa = "
        "1/tau, and it is the hidden weight lambda of the distribution term.",
    ),
    "lower_is_better": Slip(
        "A lower loss, or a higher contrastive accuracy, means better features.",
        "Solving the contrastive task better often leaves worse features.",
    ),
    "comparable": Slip(
        "Losses can be compared across tau or K.",
        "Each has its own collapsed value and its own optimum. Compare a loss with its own lines.",
    ),
    "more_negatives": Slip(
        "More negatives are always better.",
        "The number of negatives, the number of steps, the noise and the factor 1 − P⁺ on every gradient move together.",
    ),
    "bound_n": Slip(
        "The bound on the mutual information counts the negatives.",
        "N includes the positive, and the bound can never exceed log N, however much the views share.",
    ),
    "uniform_is_good": Slip(
        "The more uniform, the better.",
        "Uniformity alone is not quality: the most uniform encoder need not be the most accurate, and a dimensional collapse "
        "that leaves a few dozen dimensions hardly changes it.",
    ),
    "expensive": Slip(
        "A softmax over everything is too expensive, hence NCE.",
        "Cost is one argument. The point of NCE is a density without a normaliser: that is learned as part of the score.",
    ),
    "upper_bound": Slip(
        "The contrastive loss is a lower bound of the mutual information.", "The loss is not; log N minus the loss is."
    ),
    "linear_heads": Slip(
        "Two and three layers are linear projection heads.",
        "Only a head of one layer is linear. Deeper ones are networks: batch norm and ReLU stand between their layers.",
    ),
    "normal_prior": Slip(
        "The normal prior uses the cross entropy loss.",
        "The cross entropy of NT-Xent belongs to the uniform hypersphere. The normal prior needs a distance of its own, such as "
        "the sliced Wasserstein distance.",
    ),
    "negatives_follow": Slip(
        "The negatives are made to follow the prior.",
        "The distribution term runs over all embeddings, both views of every image.",
    ),
    "corners": Slip(
        "Choose temperature and weight from the lower left or the upper right of the map.",
        "Where the good cells lie depends on the convention and on the direction of the axes. Read the ridge, not the corners.",
    ),
    "hard_floor": Slip(
        "The information line, log(2n − 1) − b ln 2, is a hard floor of the loss.",
        "Not for NT-Xent: candidates come in pairs, so the exact floor of b shared bits can lie a little below the line.",
    ),
}
