"""Choices that the weights cannot answer: what is asked, what is possible, what is used."""

from core.checkpoints.branches import Encoder
from core.checkpoints.normalise import PRESETS, usable, why
from core.checkpoints.plans import Plan, ResNetPlan, ViTPlan
from core.checkpoints.report import CheckpointError, Choices, Question

USUAL_HEADS = {192: 3, 384: 6, 768: 12, 1024: 16, 1280: 16, 1408: 16}
MOCO_V3_SMALL = (384, 12)  # width and heads that differ from timm's ViT-S


def apply(plan: Plan, choices: Choices) -> Plan:
    """The plan with a person's choices in place of the usual settings.

    Raises:
        CheckpointError: If a choice does not apply to this encoder.
    """
    given = choices.model_dump(include={"stem", "padding", "max_pool", "heads"}, exclude_none=True)
    if isinstance(plan, ResNetPlan):
        if "heads" in given:
            raise CheckpointError("choice", f"heads: only a vision transformer has attention heads, this is a {plan.name}.")
        if choices.stem is not None:
            large = choices.stem == "imagenet"
            plan = plan.model_copy(update={"stride": 2 if large else 1, "max_pool": large})
        return plan.model_copy(update={key: given[key] for key in ("padding", "max_pool") if key in given})
    wrong = sorted(set(given) - ({"heads"} if isinstance(plan, ViTPlan) else set()))
    if wrong:
        raise CheckpointError("choice", f"{wrong[0]}: this choice does not apply to {plan.name}.")
    if isinstance(plan, ViTPlan) and choices.heads is not None:
        if plan.width % choices.heads:
            raise CheckpointError("choice", f"heads: must divide the width {plan.width}, got {choices.heads}.")
        return plan.model_copy(update={"heads": choices.heads})
    return plan


def check_normalisation(name: str | None, channels: int) -> None:
    """Is there such a preset, and does it fit the input channels?

    Raises:
        CheckpointError: If not.
    """
    if name is None:
        return
    if name not in PRESETS:
        raise CheckpointError("choice", f"normalisation: must be one of {', '.join(PRESETS)}, got {name!r}.")
    if not usable(name, channels):
        raise CheckpointError(
            "choice", f"normalisation: preset {name!r} does not fit {channels} input channel{'s'[: channels > 1]}."
        )


def input_options(channels: int, bits: int | None) -> tuple[str, ...]:
    """What the input channels can be; one answer where the settings of the run are known."""
    if bits is not None:
        return (_channels_text(channels - bits, bits),)
    options = [
        _channels_text(image, channels - image) for image in (3, 1) if channels >= image and not (image == 1 and channels == 3)
    ]
    return tuple(options)


def _channels_text(image: int, bits: int) -> str:
    colours = {1: "grey"}.get(image, f"{image} colours")
    return colours if not bits else f"{colours} and {bits} RandBit channel{'s' if bits > 1 else ''}"


def ask(
    encoders: list[Encoder],
    chosen: Encoder,
    plan: Plan,
    choices: Choices,
    layout: str,
    preset: str | None,
    inputs: tuple[str, ...],
    layout_name: str = "this format",
) -> list[Question]:
    """The questions this checkpoint raises, in the order a person answers them."""
    questions = []
    if len(encoders) > 1:
        options = tuple(encoder.name for encoder in encoders)
        text = "Which weights? " + "; ".join(f"{encoder.name}: {encoder.role}" for encoder in encoders)
        questions.append(
            Question(
                name="branch", text=text, options=options, chosen=chosen.name, guess=encoders[0].name, why=encoders[0].role
            )
        )  # fmt: skip
    if len(inputs) > 1:
        questions.append(
            Question(
                name="channels", text="What are the input channels?", options=inputs, chosen=inputs[0], guess=inputs[0],
                why="as many colours as the channels allow",
            )
        )  # fmt: skip
    if isinstance(plan, ResNetPlan):
        questions += _about_the_stem(plan, layout)
    if isinstance(plan, ViTPlan):
        questions.append(_about_heads(plan, layout))
    presets = tuple(name for name in PRESETS if usable(name, plan.in_channels))
    fits = preset if preset in presets else None
    questions.append(
        Question(
            name="normalisation",
            text="How were the images normalised? A wrong answer makes the features hardly better than random.",
            options=presets,
            chosen=choices.normalisation or "none",
            guess=fits,
            why=why(fits or "none", preset, layout_name),
        )
    )
    return questions


def _about_the_stem(plan: ResNetPlan, layout: str) -> list[Question]:
    stem = "imagenet" if plan.stride == 2 else "cifar"
    usual = plan.kernel // 2
    wider = {usual, usual + 1} | ({2} if plan.kernel == 3 else set())
    paddings = tuple(str(padding) for padding in sorted(wider | {plan.padding}))
    solo = layout == "solo_learn" and plan.kernel == 3
    guess = "2" if solo else str(usual)
    return [
        Question(
            name="stem",
            text=(
                f"Stride of the first {plan.kernel} × {plan.kernel} convolution: 2 with max-pool (imagenet) or 1 without (cifar)?"
            ),
            options=("imagenet", "cifar"),
            chosen=stem,
            guess="imagenet" if plan.kernel >= 5 or plan.deep_stem else "cifar",
            why="usual for a stem of three convolutions" if plan.deep_stem else f"usual for a {plan.kernel} × {plan.kernel} stem",
        ),
        Question(
            name="padding",
            text="Padding of the first convolution; the weights cannot show it.",
            options=paddings,
            chosen=str(plan.padding),
            guess=guess,
            why="as solo-learn trains small images" if solo else "keeps the size of the image before the stride",
        ),
        Question(
            name="max_pool",
            text="Max-pool after the stem; it has no weights.",
            options=("yes", "no"),
            chosen="yes" if plan.max_pool else "no",
            guess=None,
            why="goes with the stem",
        ),
    ]


def _about_heads(plan: ViTPlan, layout: str) -> Question:
    guess = usual_heads(plan, layout)
    options = [heads for heads in (1, 2, 3, 4, 6, 8, 12, 16, 24) if plan.width % heads == 0]
    return Question(
        name="heads",
        text="Number of attention heads; the shapes are the same for every number, the features are not.",
        options=tuple(map(str, options)),
        chosen=str(plan.heads) if plan.heads else None,
        guess=str(guess) if guess else None,
        why=f"usual for a width of {plan.width}" if guess else "no number is usual for this width",
    )


def usual_heads(plan: ViTPlan, layout: str) -> int | None:
    """The number of heads that networks of this width usually have."""
    width, heads = MOCO_V3_SMALL
    if layout.startswith("moco_v3") and plan.width == width:
        return heads
    return USUAL_HEADS.get(plan.width)
