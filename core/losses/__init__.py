"""Contrastive losses and their closed forms.

The functions need torch, which is imported when one of them is first asked for; `core.losses.reference` never needs it.
No module here has the name of a public function: importing it would hide the function behind the module.
"""

from importlib import import_module

_HOME = {
    "KeyQueue": "queue",
    "LossTerms": "terms",
    "NotFiniteError": "checks",
    "align_uniform": "potential",
    "alignment": "positives",
    "cross_view": "contrastive",
    "dcl": "decoupled",
    "from_spec": "select",
    "generalized": "family",
    "info_nce": "candidates",
    "log_sum_exp": "repulsion",
    "momentum_update": "queue",
    "nce": "binary",
    "nt_xent": "contrastive",
    "sliced_wasserstein": "wasserstein",
}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'core.losses' has no attribute {name!r}")
    return getattr(import_module(f"core.losses.{_HOME[name]}"), name)
