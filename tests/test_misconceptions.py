"""Every misconception is corrected somewhere on the teaching pages, beside a picture."""

import re

from core.misconceptions import SLIPS


def test_every_slip_is_shown_by_some_view(root):
    views = (root / "pages").rglob("*.py")
    shown = {name for view in views for name in re.findall(r'slip\(\s*"(\w+)"', view.read_text("utf-8"))}
    assert shown == set(SLIPS)


def test_claims_and_corrections_are_sentences():
    for slip in SLIPS.values():
        assert slip.claim.endswith(".") and slip.right.endswith(".")
        assert "!" not in slip.claim + slip.right
