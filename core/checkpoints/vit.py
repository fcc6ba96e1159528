"""A vision transformer through timm, from a `ViTPlan`."""

from functools import partial

from torch import nn

from core.checkpoints.plans import ViTPlan
from core.checkpoints.report import CheckpointError

NORM_EPS = 1e-6  # timm's, DINO's and MoCo v3's; the weights cannot show it


def build_vit(plan: ViTPlan) -> nn.Module:
    """timm's VisionTransformer without a classifier.

    Args:
        plan: Its `heads` must be known.

    Returns:
        A module [n, channels, side, side] -> h [n, h_dim]: the class token after the last norm, or the mean over
        patches for networks trained without one. Position embeddings are resampled for other image sizes.

    Raises:
        CheckpointError: If the number of heads was not chosen.
    """
    if plan.heads is None:
        raise CheckpointError("choice", f"heads: {plan.name} needs its number of attention heads.")
    from timm.models.vision_transformer import VisionTransformer  # takes a second

    network = VisionTransformer(
        img_size=plan.image_size, patch_size=plan.patch, in_chans=plan.in_channels, num_classes=0, embed_dim=plan.width,
        depth=plan.depth, num_heads=plan.heads, mlp_ratio=plan.hidden / plan.width, qkv_bias=plan.qkv_bias,
        init_values=1.0 if plan.layer_scale else None, class_token=plan.class_token, reg_tokens=plan.registers,
        no_embed_class=not plan.embedded, global_pool="token" if plan.class_token and plan.final_norm == "norm" else "avg",
        fc_norm=plan.final_norm == "fc_norm", norm_layer=partial(nn.LayerNorm, eps=NORM_EPS), dynamic_img_size=True,
    )  # fmt: skip
    network.h_dim = plan.h_dim
    return network
