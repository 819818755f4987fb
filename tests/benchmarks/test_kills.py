"""A few kills and races of every command."""

import pytest

from benchmarks.kills import main


@pytest.mark.long
def test_kills_and_races_lose_nothing() -> None:
    counts = main(kills=12, races=6)
    assert sum(count for name, count in counts.items() if name.endswith(": killed")) > 0
    assert sum(count for name, count in counts.items() if name.endswith(": the same in the end")) == 6
    assert sum(count for name, count in counts.items() if name.endswith("races with the same result")) == 6
