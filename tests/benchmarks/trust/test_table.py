"""docs/trust.md from invented verdicts."""

import numpy as np
import pytest

from benchmarks.trust.aims import aims
from benchmarks.trust.table import table
from benchmarks.trust.verdicts import ClipVerdicts
from spatial_engine.trust.signal_errors_record import GrossCount, SignalErrors
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield


def verdict(clip: str, number: int, word: str = "right", off: float = 0.5) -> Verdict:
    return Verdict(
        id=f"{clip} {number}", fact_id=f"{clip} fact {number}", ability="L1/Motion/Ego", template="camera_turn",
        format="numeric", clip=clip, experts="colmap", word=word, reason="" if word != "undecidable" else "no depth",
        margin=None, error={"angle": off}, sigma={"angle": 1.0}, answer=10, target=None,
    )  # fmt: skip


def signal(clip: str) -> SignalErrors:
    return SignalErrors(
        expert="klt", version="1", weights_sha256=None, signal="tracks", quantity="pixel", off=np.array([0.5, 1.5]),
        other=np.zeros(2), counted=2, undecided=0,
        gross=(GrossCount(at_most=0.005, claimed=0.003, samples=200, gross=1),),
    )  # fmt: skip


def clip(name: str, *words: str, kind: str = "rendered", moves: bool = True, decided: int = 12) -> ClipVerdicts:
    about = {"name": name, "kind": kind, "moves": moves, "conditions": {"path": "walk"}, "findings": [], "frames": 48,
             "minutes": 4 / 60}  # fmt: skip
    part = ClipYield(clip=name, template="camera_turn", ability="L1/Motion/Ego", drawn=24, decided=decided,
                     reasons={"rotation below threshold": 24 - decided})  # fmt: skip
    verdicts = tuple(verdict(name, number, word) for number, word in enumerate(words))
    return ClipVerdicts(about=about, yields=(part,), signals=(signal(name),), verdicts=verdicts)


def measured(*kept: ClipVerdicts) -> dict[str, bool | None]:
    return {aim.what: aim.reached for aim in aims(kept)}


MANY = [clip(f"room {n}", *["right"] * 20) for n in range(150)]


def test_150_rooms_without_an_error_reach_the_bound_and_one_error_in_ten_misses_it():
    (reached,) = [value for what, value in measured(*MANY).items() if "upper bound" in what]
    assert reached is True
    spoilt = [clip(f"room {n}", *["right"] * 18, "wrong", "wrong") for n in range(150)]
    (missed,) = [value for what, value in measured(*spoilt).items() if "upper bound" in what]
    assert missed is False


def test_the_yield_of_static_clips_counts_for_no_aim():
    still = clip("still", "right", moves=False, decided=0)
    assert (
        measured(clip("walk", "right"), still)["rooms: yield of at least 30 % on clips whose camera translates"] is True
    )
    slow = clip("walk", "right", decided=7)
    assert measured(slow)["rooms: yield of at least 30 % on clips whose camera translates"] is False


def test_an_aim_without_measurement_is_neither_reached_nor_missed():
    found = measured(clip("walk", "right"))
    assert found["real footage: no wrong fact observed"] is None
    assert measured(clip("kitti", "undecidable", kind="real"))["real footage: no wrong fact observed"] is None
    assert measured(clip("kitti", "wrong", kind="real"))["real footage: no wrong fact observed"] is False


def test_a_leaf_with_few_facts_a_minute_has_not_reached_its_aim():
    what = "rooms: at least 10 facts per minute for every covered ability"
    assert measured(clip("walk", "right"))[what] is True  # 1 fact in 4 s
    few = clip("walk", "right")
    few.about["minutes"] = 1.0
    assert measured(few)[what] is False


@pytest.fixture(scope="module")
def text() -> str:
    kept = [*MANY, clip("kitti", "right", "undecidable", kind="real"), clip("fox", "right", kind="agreement")]
    return table(kept, seed=0, rooms=150, date="", code="abc")


def test_the_page_has_every_number(text: str):
    assert "**0 of 3000 decided facts in 150 clips are wrong** (bound 0.5 %)." in text
    assert (
        "real footage: no wrong fact observed | 0 of 1 facts in 1 clips (95 % upper bound 95.0 %) | reached |" in text
    )
    assert "- kitti: not asked: rotation below threshold (12); undecidable: no depth (1)" in text
    assert "| klt | tracks | pixel | 0.30 % | 0.50 % | 30000 |" in text
    assert "| klt | tracks | pixel | 150 | 300 | 50 | 100 |" in text
    assert "not independent ground truth" in text


def test_equal_verdicts_give_equal_bytes(text: str):
    kept = [*MANY, clip("kitti", "right", "undecidable", kind="real"), clip("fox", "right", kind="agreement")]
    assert table(kept, seed=0, rooms=150, date="", code="abc") == text
