"""What was nearest to an object when the video last showed it, on a row of objects at known places."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.stood_beside import StoodBeside
from tests.templates import worlds

TEMPLATE = StoodBeside()
NAMES = ("chair", "table", "lamp", "sofa", "box", "picture")
PLACES = np.array([(-3.0, 8.0), (-2.0, 8.0), (0.5, 8.0), (1.2, 8.0), (4.0, 8.0), (6.0, 8.0)])
LAST = (11, 23, 15, 23, 9, 23)
"""Row of the last frame that shows each object."""


def signals(unit: float = 1.0, turned: int | None = None, moves: float = 0.0) -> dict[str, Signal]:
    """Cubes of 0.4 at these places. `moves`: the lamp goes so far to the left after the first frame."""
    known = worlds.as_truth(worlds.signals(unit=unit) if turned is None else worlds.elsewhere(turned, unit))
    made, objects = worlds.signals()["camera_path"], known["objects"]
    assert isinstance(objects, Objects)
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), len(NAMES), 1, 1))
    poses[..., :2, 3] = PLACES
    poses[1:, 2, 0, 3] -= moves
    here = known["camera_path"].world_from_cam[0].copy()  # type: ignore[union-attr]
    here[:3, 3] /= unit
    poses = here @ np.linalg.inv(made.world_from_cam[0]) @ poses  # type: ignore[union-attr]
    poses[..., :3, 3] *= unit
    ids = np.full((len(worlds.FRAMES), 24, 48), -1, dtype=np.int32)
    for k, last in enumerate(LAST):
        ids[: last + 1, 2:10, 8 * k + 1 : 8 * k + 7] = k
    changed = replace(
        objects, labels=NAMES, ids=ids, box_px=None, world_from_object=poses, size=np.full((len(NAMES), 3), 0.4 * unit)
    )
    return {**known, "objects": changed}


def asked(known: dict[str, Signal]) -> set[tuple[str, str, frozenset[str]]]:
    """Object, nearest one, and all four that are offered."""
    return {
        (draft.fact["name"], draft.fact["abcd"[draft.written]], frozenset(draft.fact[letter] for letter in "abcd"))
        for draft in worlds.drafts(worlds.ask(TEMPLATE, dict(known), facts=60))
    }


@pytest.mark.parametrize(("unit", "turned"), [(1.0, None), (3.0, 5)])
def test_the_nearest_is_named_under_any_frame_and_unit(unit: float, turned: int | None) -> None:
    found = asked(signals(unit, turned))
    assert {name for name, *_ in found} == {"chair", "lamp", "box"}, "the others are there until the end"
    for name, nearest, offered in found:
        x = dict(zip(NAMES, PLACES[:, 0], strict=True))
        assert nearest == min(offered, key=lambda other: abs(x[other] - x[name]))


def test_an_object_that_moved_is_beside_what_it_has_come_to() -> None:
    """From the sofa to the table."""
    assert {nearest for name, nearest, _ in asked(signals()) if name == "lamp"} == {"sofa"}
    assert {nearest for name, nearest, _ in asked(signals(moves=1.9)) if name == "lamp"} == {"table"}


def test_neighbours_at_about_the_same_distance_are_not_offered_together() -> None:
    """The lamp half-way between table and sofa."""
    known, others = signals(moves=0.9), ("table", "sofa", "box", "picture")
    assert not [offered for name, _, offered in asked(known) if name == "lamp" and {"table", "sofa"} <= offered]
    fact = {"frames": worlds.FRAMES.tolist()[:20], "name": "lamp", **dict(zip("abcd", others, strict=True))}
    facts = TEMPLATE.facts.from_json([fact])
    assert TEMPLATE.measure(facts, worlds.scene(known)).why.tolist() == ["two objects are about as near"]


def test_objects_of_a_detector_or_without_boxes_are_not_asked_about() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    for changed in (
        replace(objects, outlier_probability=np.full(len(NAMES), 0.001)),
        replace(objects, size=np.full_like(objects.size, np.nan)),
        replace(objects, size=None),
    ):
        assert not asked({**known, "objects": changed})
    assert not asked({})


def test_another_object_of_the_name_that_the_video_does_not_show_is_not_meant() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    poses = np.concatenate([objects.world_from_object[:, :1], objects.world_from_object], axis=1)
    more = replace(
        objects,
        labels=("lamp", *objects.labels),
        ids=np.where(objects.ids < 0, -1, objects.ids + 1),
        world_from_object=poses,
        size=np.full((len(poses[0]), 3), 0.4),
        centre_sigma=np.full(len(poses[0]), 0.02),
        size_sigma=np.full((len(poses[0]), 3), 0.02),
    )
    found = asked({**known, "objects": more})
    assert {nearest for name, nearest, _ in found if name == "lamp"} == {"sofa"}


@pytest.mark.parametrize(("side", "why"), [(2.0, "the objects touch or nearly touch"), (0.4, "")])
def test_a_box_that_reaches_around_the_object_does_not_win(side: float, why: str) -> None:
    """The sofa, 70 cm from the lamp, as a frame of 2 m that the lamp stands in."""
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    size = objects.size.copy()
    size[NAMES.index("sofa")] = side
    fact = {
        "frames": worlds.FRAMES.tolist()[:20],
        "name": "lamp",
        "a": "sofa",
        "b": "table",
        "c": "box",
        "d": "picture",
    }
    found = TEMPLATE.measure(
        TEMPLATE.facts.from_json([fact]), worlds.scene({**known, "objects": replace(objects, size=size)})
    )
    assert found.why.tolist() == [why]
    assert found.margin is not None and found.margin.max() < 20, "exact boxes need not be filled"


def test_where_not_every_object_of_a_name_is_listed_another_may_be_nearer() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 60)
    some = {**known, "objects": replace(objects, complete=tuple({*NAMES} - {"box"}))}
    concerned = (facts.name == "box") | (facts.others == "box").any(axis=1)
    why = TEMPLATE.measure(facts, worlds.scene(some)).why
    assert ((why == "not every object of this name is listed") == concerned).all() and concerned.any()
    assert asked(some) and not any("box" in (name, *offered) for name, _, offered in asked(some))
