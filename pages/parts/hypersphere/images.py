"""The images of a run or an inspection, for thumbnails. Never downloads anything."""

import streamlit as st

from core import datasets
from core.datasets.dataset import DataError, DataSet
from core.datasets.sources import is_here as files_are_here
from core.training.spec import RunSpec
from pages.parts.kept import kept

BUNDLED = ("mnist-5k", "folder")  # need no download


def images_of(spec: RunSpec) -> DataSet | str:
    """The data set of a run, or why it cannot be shown."""
    if spec.scene != "picture":
        return "These images are canvases made of several digits in every epoch anew, so there are no thumbnails of them."
    if spec.dataset not in BUNDLED and not is_here(spec.dataset):
        return f"The images of {spec.dataset} are not on this machine, so thumbnails are missing."

    def load() -> DataSet | str:
        try:
            return datasets.load(spec)
        except (DataError, OSError) as error:
            return f"The images cannot be shown: {error}"

    return kept(load, "images", spec.dataset, spec.data_root, spec.n_test, spec.image_size)


@st.cache_data(max_entries=16, ttl=60, show_spinner=False)
def is_here(name: str) -> bool:
    """Whether a published data set can be loaded without a download."""
    return files_are_here(name)
