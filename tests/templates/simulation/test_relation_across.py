"""How two points lie to each other that no photo shows together, in a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Gravity
from templates.simulation.relation_across import PointsApart, RelationAcross
from tests.templates import worlds

TEMPLATE = RelationAcross()
SIGNALS = worlds.signals(poses=worlds.poses_in_parts())
WORDS = ("sideways", "height", "distance")


def facts() -> PointsApart:
    return TEMPLATE.propose(worlds.scene(SIGNALS), np.random.default_rng(0), 60).rounded()


def labels(asked: PointsApart, signals: object = SIGNALS) -> list[str]:
    found = TEMPLATE.measure(asked, worlds.scene(signals))  # type: ignore[arg-type]
    assert found.label is not None
    return np.where(found.why == "", found.label, found.why).tolist()


def test_the_answer_follows_from_the_places_in_the_world() -> None:
    """As the world is made, z is up."""
    asked, known = facts(), worlds.scene(SIGNALS)
    found = TEMPLATE.measure(asked, known)
    assert len(asked) >= 10 and (found.why == "").all() and found.label is not None
    for k, label in enumerate(found.label.tolist()):
        frames, pixels = (asked.frame[k], asked.frame_other[k]), (asked.point_px[k], asked.other_px[k])
        spots = []
        for frame, xy_px in zip(frames, pixels, strict=True):
            pose = known.world_from_cam(int(frame))
            spots.append(pose[:3, :3] @ known.surface(int(frame), xy_px[None]).xyz_cam[0] + pose[:3, 3])
        p, q = np.array(spots) - known.world_from_cam(int(frames[0]))[:3, 3]
        true = {"to the left" if p[0] * q[1] > p[1] * q[0] else "to the right", "higher" if q[2] > p[2] else "lower"}
        true.add("nearer" if np.linalg.norm(q) < np.linalg.norm(p) else "farther")
        said = {word for word in asked.said[k].tolist() if word}
        assert label == (("yes" if said <= true else "no") if len(said) == 1 else (said & true).pop())


@pytest.mark.parametrize("unit", [0.2, pytest.param(1.0, marks=pytest.mark.long)])
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    assert labels(facts(), worlds.elsewhere(3, unit, poses=worlds.poses_in_parts())) == labels(facts())


def test_what_is_false_is_denied() -> None:
    """The opposite words give the opposite answers."""
    opposite = {"to the left": "to the right", "higher": "lower", "nearer": "farther"}
    opposite |= {b: a for a, b in opposite.items()} | {"": ""}
    asked = facts().take(facts().is_single)
    said = {name: np.array([opposite[word] for word in getattr(asked, name).tolist()]) for name in WORDS}
    assert len(asked) >= 5
    assert [{"yes": "no", "no": "yes"}[one] for one in labels(asked)] == labels(replace(asked, **said))


def test_points_of_one_photo_are_not_asked_about() -> None:
    asked = facts()
    assert {*labels(replace(asked, frame_other=asked.frame, other_px=asked.point_px + 40.0))} <= {
        "a photo may show both points", "the place of a point, or up, is not known",
    }  # fmt: skip


def test_up_that_is_not_sure_asks_nothing_of_heights() -> None:
    gravity = SIGNALS["gravity"]
    assert isinstance(gravity, Gravity)
    vague = replace(gravity, sigma_rad=np.full(len(gravity.frames), np.radians(40)))
    asked = facts().take(facts().height != "")
    found = TEMPLATE.measure(asked, worlds.scene({**SIGNALS, "gravity": vague}))
    assert len(asked) and (found.as_label().p_right() < 0.99).all()


def test_yes_and_no_and_all_words_are_answers() -> None:
    found = labels(facts())
    assert {"yes", "no"} < {*found} and len({*found}) >= 5
