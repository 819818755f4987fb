import pytest

from spatial_engine.scoring.success import progress, spl, success_rate


def test_success():
    assert success_rate([True, False, True, True]) == 0.75 and success_rate([]) == 0
    assert spl(True, 4, 8) == 0.5 and spl(True, 8, 4) == 1 and spl(True, 0, 0) == 1 and spl(False, 4, 4) == 0


def test_progress():
    assert progress(4, 1) == pytest.approx(0.75) and progress(4, 9) == 0 and progress(4, 0) == 1
    assert progress(0, 0) == 1 and progress(0, 2) == 0
