"""The geometry of an embedding on the hypersphere, and the closed forms it is compared with.

Metrics need torch, which is imported when one of them is first asked for; `closed_forms` and `sphere_tests` never need
it. No module here has the name of a public function: importing it would hide the function behind the module.
"""

from importlib import import_module

_HOME = {
    "alignment": "metrics",
    "bingham": "sphere_tests",
    "cka": "compare",
    "cosine_density": "closed_forms",
    "cosine_distribution": "closed_forms",
    "cosine_gap": "sphere_tests",
    "dead_dimensions": "spectra",
    "eigenvalue_rank": "spectra",
    "finite_sample_bound": "closed_forms",
    "log_mean_exp_uniform": "closed_forms",
    "participation_ratio": "spectra",
    "procrustes": "compare",
    "rankme": "spectra",
    "rayleigh": "sphere_tests",
    "similarity_histograms": "similarities",
    "singular_values": "spectra",
    "spectrum": "spectra",
    "tolerance": "metrics",
    "uniform_optimum": "closed_forms",
    "uniformity": "metrics",
    "von_mises_density": "closed_forms",
    "zero_rows": "rows",
}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'core.geometry' has no attribute {name!r}")
    return getattr(import_module(f"core.geometry.{_HOME[name]}"), name)
