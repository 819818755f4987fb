"""The loops that stand for other engines measure what they say, and all are run beside ours."""

import random

import numpy as np
import pytest

from benchmarks.peers import LOOPS, PROMPTS, Cloud, cleaned, main, mean_distance

POINTS = np.random.default_rng(0).uniform(-0.1, 0.1, (200, 3))
LEFT, RIGHT = (Cloud(name, POINTS + np.array([x, 0, 3])) for name, x in (("Chair", -1.0), ("Lamp", 1.0)))


def test_answers_are_those_of_the_points() -> None:
    assert PROMPTS["farther left"](LEFT, RIGHT)[1] == "Yes, the chair is farther left."
    assert PROMPTS["farther left"](RIGHT, LEFT)[1] == "No, the lamp is not farther left."
    assert PROMPTS["which is farther right"](LEFT, RIGHT)[1] == "The lamp."
    asked, answer = PROMPTS["horizontal distance between the {a} and the {b}"](LEFT, RIGHT)
    assert asked.endswith("the horizontal distance between the chair and the lamp?")
    assert answer in ("About 2.00 metres.", "About 6.56 feet.")
    assert PROMPTS["width of the {a}"](LEFT, RIGHT)[1].split()[-1] in ("centimetres.", "inches.")
    assert mean_distance(LEFT, RIGHT) == pytest.approx(1.9, abs=0.05)


def test_points_that_stand_alone_are_no_part_of_an_object() -> None:
    far = Cloud("Chair", np.vstack([LEFT.xyz_cam, [[5.0, 5.0, 5.0]]]))
    assert 5.0 not in cleaned(far).xyz_cam
    assert len(cleaned(far).xyz_cam) > 150


@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_asks_as_much_as_described(name: str) -> None:
    random.seed(1)
    nearer = Cloud("Table", LEFT.xyz_cam + 0.5)
    asked = [*LOOPS[name]([LEFT, RIGHT, nearer])]
    assert len(asked) == {"VQASynth": 5 * 11, "SpatialRGPT": 3 * 3, "OpenSpatial": 5}[name]
    assert all(question and answer for question, answer in asked)


def test_all_are_measured_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--rooms", "1", "--frames", "8", "--facts", "2"])
    *theirs, own = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in theirs] == [*LOOPS]
    assert own.startswith("ours, 2 facts: ")
    assert all(f" x {name}" in own for name in LOOPS)
