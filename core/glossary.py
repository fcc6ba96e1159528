"""The words of the field: one sentence, one formula and one place to read more for each term, the same on every page."""

from typing import NamedTuple


class Term(NamedTuple):
    """A technical term as the help marks explain it."""

    name: str  # as written in running text
    sentence: str
    formula: str = ""  # LaTeX without dollar signs
    more: str = ""  # paper, with section where it helps


CHEN = "Chen, Luo, Li 2021, Intriguing Properties of Contrastive Losses"
SIMCLR = "Chen et al. 2020, SimCLR"
WANG_ISOLA = "Wang & Isola 2020, Alignment and Uniformity on the Hypersphere"
WANG_LIU = "Wang & Liu 2021, Understanding the Behaviour of Contrastive Loss"

GLOSSARY: dict[str, Term] = {
    # Losses and their parts
    "nt_xent": Term(
        "NT-Xent",
        "SimCLR's loss: pick the other view of an image among all 2n − 1 other views in the batch.",
        r"\ell_i = -\frac{s_{i,\mathrm{pos}(i)}}{\tau} + \log \sum_{k \ne i} e^{s_{ik}/\tau}",
        SIMCLR,
    ),
    "cross_view": Term(
        "cross-view InfoNCE",
        "Candidates come from the other view only: n of them instead of 2n "
        "− 1. Both directions are added, as in the authors' notebook.",
        r"\mathrm{CE}(\tilde z_a \tilde z_b^\top / \tau) + \mathrm{CE}(\tilde z_b \tilde z_a^\top / \tau)",
        f"{CHEN}, RandBits-MNIST notebook",
    ),
    "info_nce": Term(
        "InfoNCE",
        "A softmax cross entropy whose right answer is always the positive; the classes are the other samples.",
        r"-\log \frac{e^{s^+/\tau}}{e^{s^+/\tau} + \sum_{k=1}^{K} e^{s_k/\tau}}",
        "van den Oord et al. 2018, Contrastive Predictive Coding",
    ),
    "nce": Term(
        "NCE",
        "Noise-contrastive estimation: one sigmoid per score, data "
        "against noise, where InfoNCE has one softmax over all scores.",
        r"-\log \sigma(s^+ - \log K p_n) - \sum_k \log\bigl(1 - \sigma(s_k - \log K p_n)\bigr)",
        "Gutmann & Hyvärinen 2010, Noise-contrastive estimation",
    ),
    "gcl": Term(
        "GCL (tau, lambda)",
        "The generalized contrastive loss: alignment plus lambda times a "
        "distribution term. With log-sum-exp and lambda = tau it is tau times NT-Xent.",
        r"L = L_\mathrm{alignment} + \lambda\, L_\mathrm{distribution}",
        CHEN,
    ),
    "swd": Term(
        "sliced Wasserstein distance",
        "How far the embeddings are from a chosen prior: both are projected on random directions, sorted, and compared.",
        r"\frac{1}{b\,d'} \lVert \mathrm{sort}(HW) - \mathrm{sort}(PW) \rVert_F^2",
        f"{CHEN}, Algorithm 1",
    ),
    "temperature": Term(
        "temperature (tau)",
        "Divides the similarities before the softmax. A small tau "
        "listens to the nearest negatives only, a large tau to all alike.",
        r"e^{s/\tau}",
        WANG_LIU,
    ),
    "lambda": Term(
        "lambda",
        "Weight of the distribution term against alignment. NT-Xent ties "
        "it to the temperature; the generalized loss sets it free.",
        r"L = L_\mathrm{alignment} + \lambda\, L_\mathrm{distribution}",
        CHEN,
    ),
    "loss": Term(
        "loss",
        "Mean over the last epoch, in nats. Values of different temperatures, batch sizes or "
        "objectives cannot be compared; compare each with its own floor and chance value.",
    ),
    "floor": Term(
        "floor",
        "The lowest loss an encoder can reach that keeps the shared bits "
        "and nothing else: images with equal bits cannot be told apart.",
        r"\mathbb{E}\,\log\bigl(1 + 2\,\mathrm{Bin}(n-1,\, 2^{-b})\bigr)",
        "Derived from NT-Xent with n images a batch and b bits; exact for small tau",
    ),
    "saturation": Term(
        "saturation",
        "With this many bits every image of a batch has its own code, so the bits alone solve the task.",
        r"b = \log_2(2n - 1)",
        "Derived from the floor",
    ),
    "chance_loss": Term(
        "collapsed loss",
        "The loss when all embeddings are equal and the positive is one guess among all candidates.",
        r"\log(2n - 1)",
        "NT-Xent; the cross-view loss has log n in each direction",
    ),
    "chance": Term("chance", "The accuracy of guessing: one over the number of classes.", r"1 / C"),
    "candidates": Term(
        "candidates",
        "What the softmax chooses from, the positive included: 2n − 1 "
        "for NT-Xent, n for the cross-view loss, K + 1 with a queue.",
    ),
    "queue": Term(
        "queue",
        "MoCo keeps the keys of earlier batches as negatives, made by a slowly moving copy of the encoder.",
        r"\theta_k \leftarrow m\,\theta_k + (1-m)\,\theta_q",
        "He et al. 2020, Momentum Contrast",
    ),
    "effective_negatives": Term(
        "effective number of negatives",
        "How many negatives share the gradient: the exponential of the entropy of their weights.",
        r"e^{H(r)},\quad r_k \propto e^{s_k/\tau}",
        "Derived from the gradient of InfoNCE",
    ),
    # Competing features
    "feature_suppression": Term(
        "feature suppression",
        "Two features tell the images apart; the one that is easier to "
        "learn is enough for the loss, and the other is not learned.",
        more=CHEN,
    ),
    "randbit": Term(
        "RandBit",
        "Each image gets a fixed random integer, added as channels of zeros and ones. Both views "
        "carry the same bits, so they are an easy feature that says nothing about the class.",
        r"[H, W, C] \to [H, W, C + b]",
        f"{CHEN}, section on feature suppression",
    ),
    "bits": Term(
        "bits",
        "Number of added binary channels, the same in both views of "
        "an image. Each further bit doubles the number of codes.",
        r"2^b \text{ codes}",
        CHEN,
    ),
    "digit_on_image": Term(
        "DigitOnImage",
        "A small digit is laid over a picture, the same in both views; the digit and the object compete.",
        r"\max(\text{image}, \text{digit})",
        CHEN,
    ),
    "multi_digits": Term(
        "MultiDigits",
        "Several digits of different size on one canvas: large ones are learned before small ones.",
        more=CHEN,
    ),
    "bits_known": Term(
        "bits known",
        "How much of the code the encoder keeps: one logistic probe per "
        "bit, each counted as one bit less its remaining uncertainty.",
        r"\sum_j 1 - H_2(\mathrm{accuracy}_j)",
    ),
    "bit_accuracy": Term(
        "accuracy per bit",
        "Mean test accuracy of one logistic probe per added bit on the frozen features; 0.5 is a coin toss.",
    ),
    "digit_accuracy": Term(
        "digit probe",
        "Test accuracy of a logistic regression that reads the overlaid digit from the frozen features, on digit images that no "
        "training picture carried.",
    ),
    "small_digit_accuracy": Term(
        "small digit probe",
        "Test accuracy of a logistic regression that reads the digit of fixed size from a canvas of two digits.",
    ),
    "large_digit_accuracy": Term(
        "large digit probe",
        "Test accuracy of a logistic regression that reads the growing digit from a canvas of two digits.",
    ),
    "color_accuracy": Term(
        "colour probe",
        "Images with similar colour histograms form ten groups; a logistic regression on the frozen features names the group of "
        "a test image.",
    ),
    # Evaluation
    "linear_accuracy": Term(
        "linear probe",
        "Test accuracy of a logistic regression on the frozen, "
        "standardised encoder output h, fitted to the end after training.",
        more=SIMCLR,
    ),
    "knn_accuracy": Term(
        "kNN accuracy",
        "Test accuracy of a vote among the nearest training images by cosine similarity of h; nothing is trained.",
    ),
    "online_accuracy": Term(
        "online probe",
        "A linear classifier trained alongside the encoder on h, "
        "without sending gradients into it. It trails the linear probe.",
        more="RandBits-MNIST notebook",
    ),
    "supervised": Term("supervised", "The same encoder and inputs, trained end to end with the labels by cross entropy."),
    "untrained": Term(
        "untrained",
        "The same encoder with its random start weights. What training adds is the distance to this line.",
    ),
    "autoencoder": Term(
        "autoencoder",
        "The same encoder, trained to rebuild its input. Every channel and pixel counts alike: a feature is kept as far as it "
        "makes up the picture.",
    ),
    "projection_head": Term(
        "projection head",
        "A small network from the encoder output h to the embedding z "
        "that the loss sees. It is thrown away after training.",
        r"z = g(h)",
        SIMCLR,
    ),
    "epoch": Term("epoch", "One pass over the training images."),
    "seed": Term(
        "seed",
        "Start value of every random draw of a run. The same settings and seed give the same result on the same device.",
    ),
    "spread": Term(
        "spread over seeds",
        "Runs that differ only in their seed. Bands show one standard deviation (n − 1 in "
        "the denominator) or the range from lowest to highest, as the subtitle says.",
    ),
    "status": Term(
        "status",
        "Finished: measured to the end. Diverged: the loss became infinite "
        "or undefined. Failed: an error stopped it. Stopped: by request.",
    ),
    # Geometry
    "hypersphere": Term(
        "hypersphere",
        "All vectors of length one. Embeddings are compared by their angle only, so they live there.",
        r"\tilde z = z / \lVert z \rVert",
        WANG_ISOLA,
    ),
    "alignment": Term(
        "alignment",
        "Mean squared distance of two views of an image on the unit sphere: 0 is perfect, 2 is what unrelated points have.",
        r"\mathbb{E}\,\lVert \tilde x - \tilde y \rVert^2",
        WANG_ISOLA,
    ),
    "uniformity": Term(
        "uniformity",
        "How evenly the embeddings cover the unit sphere: 0 when all "
        "are equal, about −4 in high dimension when spread evenly.",
        r"\log \mathbb{E}\, e^{-2 \lVert \tilde x - \tilde y \rVert^2}",
        WANG_ISOLA,
    ),
    "tolerance": Term(
        "tolerance",
        "Mean cosine similarity of images of the same class. High "
        "tolerance keeps a class together, and so costs uniformity.",
        r"\mathbb{E}[\tilde x^\top \tilde y \mid \text{same class}]",
        WANG_LIU,
    ),
    "rankme": Term(
        "RankMe",
        "Dimensions in use: the exponential of the entropy of the singular values of the embeddings as they are, not centred. "
        "At most n with n images. The effective rank of the spectrum is another number.",
        r"\exp\bigl(-\textstyle\sum_k p_k \log p_k\bigr),\quad p_k = \sigma_k / \lVert \sigma \rVert_1",
        "Garrido et al. 2023, RankMe",
    ),
    "participation_ratio": Term(
        "participation ratio",
        "A count of the dimensions in use, from the squared eigenvalues of the centred covariance. With n images it is at most "
        "n − 1.",
        r"\bigl(\sum \lambda\bigr)^2 / \sum \lambda^2",
    ),
    "effective_rank": Term(
        "effective rank",
        "Dimensions in use, counted by the entropy of the centred covariance's eigenvalues: squared singular values, where "
        "RankMe takes the singular values themselves and is mostly higher. At most n − 1 with n images.",
        r"\exp\bigl(-\textstyle\sum_k p_k \log p_k\bigr),\quad p_k = \lambda_k / \textstyle\sum_j \lambda_j",
        "Roy & Vetterli 2007, The Effective Rank",
    ),
    "spectrum": Term(
        "spectrum",
        "Singular values of the covariance of the unit embeddings, largest first. A steep drop shows dimensional collapse.",
        more="Jing et al. 2022, Understanding Dimensional Collapse",
    ),
    "collapse": Term(
        "collapse",
        "All images get the same embedding, or the embeddings use only a few of their dimensions.",
    ),
    "pca": Term(
        "PCA",
        "The flat picture that keeps the most variance of the embedding. "
        "Distances in it are a shadow of those in all dimensions.",
    ),
    "tsne": Term(
        "t-SNE",
        "A flat map that keeps neighbours together. Distances between groups and sizes of groups in it mean nothing.",
        more="van der Maaten & Hinton 2008, Visualizing Data using t-SNE",
    ),
    "rayleigh": Term(
        "Rayleigh's test",
        "Do the points favour a direction? It looks at the length of their mean, "
        "and cannot see what is symmetric about the centre.",
        r"n\,d\,\lVert \bar{x} \rVert^2 \sim \chi^2_d",
        "Mardia & Jupp 2000, Directional Statistics, section 10.4",
    ),
    "bingham": Term(
        "Bingham's test",
        "Do the points favour an axis or a subspace? It looks at their second moments, "
        "and cannot see clusters that leave them equal.",
        r"\tfrac{n d (d+2)}{2} \bigl(\mathrm{tr}\, T^2 - \tfrac{1}{d}\bigr),\quad T = \tfrac{1}{n} \sum x x^\top",
        "Mardia & Jupp 2000, Directional Statistics, section 10.7",
    ),
    "cosine_gap": Term(
        "cosine gap",
        "Largest difference between the cumulative shares of the cosines of all pairs and their exact law for uniform points.",
        r"\tfrac{1 + u}{2} \sim \mathrm{Beta}\bigl(\tfrac{d-1}{2}, \tfrac{d-1}{2}\bigr)",
    ),
    "cka": Term(
        "CKA",
        "Linear centred kernel alignment: how alike two encoders see the same "
        "images, from 0 to 1, whatever their axes and scale.",
        r"\frac{\lVert Y^\top X \rVert_F^2}{\lVert X^\top X \rVert_F \, \lVert Y^\top Y \rVert_F}",
        "Kornblith et al. 2019, Similarity of Neural Network Representations Revisited",
    ),
    "procrustes": Term(
        "aligned axes",
        "The loss does not see rotations, so axes may turn between epochs. Each epoch is turned onto the next one to undo that.",
        r"\min_{R^\top R = I} \lVert Z R - Z' \rVert_F",
        "Schönemann 1966, the orthogonal Procrustes problem",
    ),
    "log_sum_exp": Term(
        "log-sum-exp term",
        "The part of the loss that pushes all embeddings apart: a soft maximum of the similarities.",
        r"\frac{1}{2n}\sum_i \log \sum_{k \ne i} e^{s_{ik}/\tau}",
        CHEN,
    ),
    "information_bound": Term(
        "mutual-information bound",
        "InfoNCE bounds the information shared by two views from below, "
        "but never by more than the log of the number of candidates.",
        r"I \ge \log N - L",
        "van den Oord et al. 2018; Poole et al. 2019",
    ),
    "checkpoint": Term(
        "checkpoint",
        "A file with the weights of a network. Reading it here executes nothing that is in it.",
    ),
    "representation": Term(
        "representation (h)",
        "What the encoder makes of an image, before the projection head. Probes and downstream tasks use it.",
        r"h = f(x)",
        SIMCLR,
    ),
    "space_h": Term(
        "h",
        "The encoder's output. It usually knows more than z, because the loss shapes z directly.",
        r"h = f(x)",
        SIMCLR,
    ),
    "space_z": Term(
        "z",
        "The projection head's output, on which the loss was computed: this is what lies on the hypersphere.",
        r"z = g(h)",
        SIMCLR,
    ),
    "dead_dimensions": Term(
        "dead dimensions",
        "Coordinates that hardly vary over the test images: standard deviation under a ten-thousandth of the largest one.",
    ),
    "competing_features": Term(
        "competing features",
        "Several features could tell images apart; an encoder may learn one and drop the others. "
        "Changing one feature at a time shows which it uses.",
        more=CHEN,
    ),
    "augmentation": Term(
        "augmentation",
        "Random changes that make two views of one image. What they destroy, the encoder learns to ignore.",
    ),
    "lars": Term(
        "LARS",
        "An optimiser for large batches: each layer's step is scaled to the size of its weights.",
        more="You et al. 2017, Large Batch Training of Convolutional Networks",
    ),
}


def term(key: str) -> Term:
    """Look a term up.

    Raises:
        KeyError: If the glossary does not have it; the text lists what it has.
    """
    if key not in GLOSSARY:
        raise KeyError(f"no glossary entry {key!r}; there are {', '.join(sorted(GLOSSARY))}")
    return GLOSSARY[key]


def help_text(*keys: str) -> str:
    """Markdown for a help mark: sentence, formula and where to read more, for one term or several."""
    return "\n\n".join(_markdown(term(key), named=len(keys) > 1) for key in keys)


def _markdown(entry: Term, named: bool) -> str:
    """One entry; its name is written in front when it is one of several."""
    name = entry.name[:1].upper() + entry.name[1:]
    text = f"**{name}.** {entry.sentence}" if named else entry.sentence
    if entry.formula:
        text += f"\n\n$$\n{entry.formula}\n$$"
    return text + (f"\n\n*{entry.more}*" if entry.more else "")
