"""The glossary: complete where pages look things up, one sentence style, balanced formulas."""

import pytest

from core import glossary
from core.training.spec import RunResult


@pytest.mark.parametrize("key", glossary.GLOSSARY)
def test_entry_reads_well(key):
    entry = glossary.GLOSSARY[key]
    assert entry.sentence.endswith(".") and "!" not in entry.sentence and len(entry.sentence) < 240
    assert entry.formula.count("{") == entry.formula.count("}")
    assert "$" not in entry.formula


def test_every_measured_metric_that_pages_show_has_an_entry():
    accuracies = {"linear_accuracy", "knn_accuracy", "online_accuracy", "bit_accuracy"}
    shown = accuracies | {"bits_known", "alignment", "uniformity", "tolerance", "rankme", "loss", "status"}
    assert shown <= set(RunResult.model_fields) and shown <= set(glossary.GLOSSARY)


def test_help_text_joins_sentence_formula_and_source():
    text = glossary.help_text("alignment")
    assert text.startswith("Mean squared distance") and "$$" in text and text.endswith("Hypersphere*")
    assert glossary.help_text("chance", "seed").startswith("**Chance.** ")


def test_unknown_term_lists_what_there_is():
    with pytest.raises(KeyError, match="no glossary entry 'taau'; there are alignment, augmentation"):
        glossary.help_text("taau")
