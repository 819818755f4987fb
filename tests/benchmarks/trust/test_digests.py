"""Results are made again if the code changes: the patterns of this code must match files."""

import pytest

from benchmarks.trust import ablation, verdicts


@pytest.mark.parametrize("pattern", sorted({*verdicts._CODE, *verdicts._DRAWING, *ablation._CODE, *ablation._DRAWN_BY}))
def test_every_pattern_matches_files(pattern: str) -> None:
    assert any(verdicts.ROOT.glob(pattern))
