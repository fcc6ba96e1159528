"""How the numbers of an inspection were made, in one line: under figures, and in what is saved."""

from core import provenance as shared
from core.figures.metrics import DATASET_NAMES
from core.inspections.store import Inspection
from pages.parts.inspect.places import Found


def about(entry: Found, inspection: Inspection, space: str = "", counted: bool = True) -> str:
    """Settings for subtitles: encoder, space, data set, and unless it is said elsewhere how many images."""
    numbers = inspection.summary
    encoder = (numbers.get("encoder") or {}).get("architecture") or ""
    data = DATASET_NAMES.get(entry.spec.dataset, entry.spec.dataset)
    images = f"{data}, {numbers.get('n_test', 0):,} test images, seed {entry.spec.seed}" if counted else data
    parts = (entry.spec.name, encoder, space, images)
    return " · ".join(part for part in parts if part)


def provenance(entry: Found, inspection: Inspection) -> str:
    """The line under charts and exports."""
    numbers = inspection.summary
    data = DATASET_NAMES.get(entry.spec.dataset, entry.spec.dataset)
    versions = {"contrastive_lens": "Contrastive Lens", "torch": "torch"}
    made = ", ".join(f"{name} {numbers['versions'][key]}" for key, name in versions.items() if key in numbers.get("versions", {}))
    parts = (
        f"{entry.spec.name} (sha256 {entry.spec.sha256[:12]})",
        f"{data}, {numbers.get('n_train', 0):,} training and {numbers.get('n_test', 0):,} test images, seed {entry.spec.seed}",
        made,
        numbers.get("device", ""),
        str(numbers.get("finished_at", ""))[:10] or shared.today(),
    )
    return " · ".join(part for part in parts if part)
