"""Parts of the priors-and-heads page."""
