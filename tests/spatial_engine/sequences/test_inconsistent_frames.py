"""Which frames are blamed for pairs that contradict the pictures."""

import numpy as np
import pytest

from spatial_engine.sequences.inconsistent_frames import FramePair, inconsistent

FRAMES = np.arange(24)
PAIRS = {(a, a + gap) for gap in (1, 2, 4, 8) for a in range(len(FRAMES) - gap)}


def blamed(bad: set[FramePair]) -> set[int]:
    """Of all sampled pairs, the rest agree."""
    assert bad <= PAIRS
    return inconsistent(FRAMES, bad, PAIRS - bad)


def test_a_few_wrong_matches_blame_no_frame() -> None:
    assert blamed(set()) == blamed({(4, 12)}) == blamed({(8, 12), (10, 12)}) == set()


def test_a_frame_that_most_pairs_contradict_is_blamed() -> None:
    of_six = {pair for pair in PAIRS if 6 in pair}
    assert blamed(of_six) == {6}
    assert blamed(of_six - {(5, 6), (6, 7)}) == {6}


@pytest.mark.parametrize("block", [{9, 10, 11}, {8, 9, 10, 11, 12, 13}, {18, 19, 20, 21, 22, 23}])
def test_a_block_whose_frames_agree_among_themselves_is_blamed(block: set[int]) -> None:
    assert blamed({pair for pair in PAIRS if len(block & {*pair}) == 1}) == block
