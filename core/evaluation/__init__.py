"""What a frozen representation knows: linear probe, nearest neighbours, bits, colours."""

from core.evaluation.bits import BitKnowledge, bit_probes
from core.evaluation.colors import ColorKnowledge, color_knowledge
from core.evaluation.knn import KnnResult, knn
from core.evaluation.linear_probe import ProbeResult, linear_probe

__all__ = ["BitKnowledge", "ColorKnowledge", "KnnResult", "ProbeResult", "bit_probes", "color_knowledge", "knn", "linear_probe"]
