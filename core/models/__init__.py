"""Encoders, projection heads and the decoder of the autoencoder baseline."""

from core.models.conv import ConvN
from core.models.decoder import build_decoder
from core.models.encoders import build_encoder, count_parameters, encode
from core.models.heads import build_head, no_head

__all__ = ["ConvN", "build_decoder", "build_encoder", "build_head", "count_parameters", "encode", "no_head"]
