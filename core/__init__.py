"""Contrastive Lens: train, measure and explain contrastive encoders. This package never imports streamlit."""

__version__ = "0.1.0"
