"""Pictures inside figures, as data addresses: a hundredth of the size of their numbers as text."""

import base64
import io

import numpy as np
from PIL import Image


def png(picture: np.ndarray) -> str:
    """A picture, uint8 [h, w, 3], as an address that a browser draws without asking anybody."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
