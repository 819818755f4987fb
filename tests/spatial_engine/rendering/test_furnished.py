"""Furnished rooms hold what templates of objects need: enough names, views, relations, and movers."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.casting import cast
from spatial_engine.rendering.furnished import furnished_room

WANTED = {"unique": 6.0, "later": 6.0, "gone": 3.0, "repeated": 2.0, "in": 2.0, "on": 3.0}
"""Least mean per room: whole objects of a unique name (per frame), objects seen first after the first frame, objects
seen but not in the last frame, names of at least two objects, objects in others, objects on others."""


def small(seed: int, **changes: object) -> RenderedScene:
    return furnished_room(np.random.default_rng(seed), frames=12, width_px=96, height_px=72, **changes)


def counts(scene: RenderedScene, frames: Sequence[int]) -> dict[str, float]:
    """Of one room, what `WANTED` is about."""
    seen = [sights(scene, frame) for frame in frames]
    names = [item.name for item in scene.objects]
    unique = [sum(Counter(names[k] for k in now)[names[k]] == 1 for k, whole in now.items() if whole) for now in seen]
    ever = set().union(*seen)
    return {
        "unique": float(np.mean(unique)),
        "later": len(ever - set(seen[0])),
        "gone": len(ever - set(seen[-1])),
        "repeated": sum(count >= 2 for count in Counter(names).values()),
        **relations(scene),
    }


def sights(scene: RenderedScene, frame: int) -> dict[int, bool]:
    """Objects that a frame shows by at least 30 %, and whether it shows them whole: 60 %, off the border."""
    ids, found = scene.object_ids(frame), {}
    area = scene.intrinsics.width_px * scene.intrinsics.height_px / (320 * 240) * 50
    for k in np.unique(ids[ids >= 0]).tolist():
        row, column = np.nonzero(ids == k)
        alone = np.count_nonzero(silhouette(scene, frame, k))
        if len(row) >= area and len(row) >= 0.3 * alone:
            border = min(row.min(), column.min(), *(np.array(ids.shape) - 1 - [row.max(), column.max()]))
            found[k] = bool(border >= 2 and len(row) >= 0.6 * alone)
    return found


def silhouette(scene: RenderedScene, frame: int, k: int) -> np.ndarray:
    """Pixels that an object would cover if nothing hid it."""
    rows = list(scene.objects[k].boxes)
    poses = [scene.room.world_from_box, *scene.world_from_boxes(frame)[rows]]
    boxes = [scene.room, *(scene.furniture[row] for row in rows)]
    from_cam = [np.linalg.inv(pose)[None] @ scene.world_from_cam[frame] for pose in poses]
    return np.asarray(cast(scene.intrinsics, from_cam, boxes)[1] >= 6)


def relations(scene: RenderedScene) -> dict[str, float]:
    """Objects of which 80 % lie in the box of a hollow object, and objects that stand on another's highest face."""
    poses, count = scene.world_from_objects(0), {"in": 0.0, "on": 0.0}
    for a, inner in enumerate(scene.objects):
        bottom = poses[a, :3, 3] - [0, 0, inner.size_m[2] / 2]
        for b, outer in enumerate(scene.objects):
            local = poses[b, :3, :3].T @ (poses[a, :3, 3] - poses[b, :3, 3])
            if a == b or (np.abs(local[:2]) > outer.size_m[:2] / 2).any():
                continue
            top = poses[b, 2, 3] + outer.size_m[2] / 2
            reach = np.abs(local) + inner.size_m / 2 <= outer.size_m / 2 + 0.1 * inner.size_m
            if outer.name in ("shelf", "box", "tub") and reach.all():
                count["in"] += 1
            elif abs(bottom[2] - top) < 0.02:
                count["on"] += 1
    return count


@pytest.mark.parametrize("seed", range(6))
def test_a_room_has_many_objects_and_chairs_that_face_anywhere(seed: int) -> None:
    scene = small(seed)
    names = [item.name for item in scene.objects]
    assert len(names) >= 14 and len(set(names)) >= 9
    assert 3 <= names.count("chair") <= 6 and "screen" in names
    signals = true_signals(scene, as_clip(scene), frames=[0])
    parts = signals["parts"]
    handles = [k for k, name in enumerate(parts.names) if name == "handle"]
    assert handles and all("pull" in parts.affords[k] for k in handles)
    assert len(signals["room"].doorways) == 1


@pytest.mark.long(sample=True)
def test_chairs_face_all_ways() -> None:
    yaws = []
    for seed in range(6):
        scene = small(seed)
        poses = scene.world_from_objects(0)
        yaws += [np.arctan2(*poses[k, [1, 0], 0]) for k, item in enumerate(scene.objects) if item.name == "chair"]
    assert (np.histogram(yaws, bins=4, range=(-np.pi, np.pi))[0] > 0).all()


@pytest.mark.parametrize("path", ["look_round", "orbit", "through_the_door"])
@pytest.mark.long(sample=True)
def test_nothing_stands_in_the_way_of_the_camera_nor_in_anything_else(path: str) -> None:
    for seed in range(4):
        scene = small(seed, path=path)
        eyes = np.c_[scene.world_from_cam[:, :3, 3], np.ones(len(scene))]
        for box, pose in zip(scene.furniture, scene.world_from_boxes(0), strict=True):
            local = np.abs(eyes @ np.linalg.inv(pose).T)[:, :3]
            assert not (local < box.half_m + 0.05).all(axis=1).any(), box.name
        for partition in scene.partitions:
            local = np.abs(eyes @ np.linalg.inv(partition.world_from_box).T)[:, :3]
            assert not (local < partition.half_m + 0.1).all(axis=1).any()


def test_looking_round_turns_by_more_than_half_and_the_walk_passes_the_doorway() -> None:
    turned = small(1, path="look_round").world_from_cam[:, :3, 2]
    steps = np.arccos(np.clip(np.sum(turned[1:, :2] * turned[:-1, :2], axis=1) / np.hypot(*turned[0, :2]) ** 2, -1, 1))
    assert np.rad2deg(steps.sum()) >= 200
    scene = small(1, path="through_the_door")
    ((x, low), (_, high)) = scene.doorways_m[0]
    at = scene.world_from_cam[:, :2, 3]
    assert at[0, 0] < x < at[-1, 0] and low < np.interp(x, at[:, 0], at[:, 1]) < high


@pytest.mark.long(sample=True)
def test_movers_have_two_legs_and_the_first_hides_behind_the_screen() -> None:
    hidden = 0
    for seed in range(4):
        scene = small(seed, movers=3, path="look_round")
        assert len(scene.moving_boxes) >= 2
        for k, mover in enumerate(scene.moving_boxes):
            at = mover.world_from_box[:, :2, 3]
            legs = at[1] - at[0], at[-1] - at[-2]
            bend = np.arccos(np.clip(np.dot(*legs) / np.prod(np.linalg.norm(legs, axis=1)), -1, 1))
            assert np.linalg.norm(np.diff(at, axis=0), axis=1).sum() > 0.8 and np.rad2deg(bend) > (
                170 if k == 0 else 45
            )
        hidden += behind_screen(scene)
    assert hidden >= 3


def behind_screen(scene: RenderedScene) -> bool:
    """Whether the line from the middle of the camera path to the first mover meets the screen midway, not at first."""
    screen = next(k for k, item in enumerate(scene.objects) if item.name == "screen")
    pose, half = scene.world_from_objects(0)[screen], scene.objects[screen].size_m / 2
    eye = scene.world_from_cam[:, :3, 3].mean(axis=0)
    mover = scene.moving_boxes[0].world_from_box[:, :3, 3]
    share = np.linspace(0, 1, 200)[:, None]
    crosses = [
        (np.abs((eye + share * (mover[n] - eye) - pose[:3, 3]) @ pose[:3, :3]) < half + 0.01).all(axis=1).any()
        for n in (0, len(mover) // 2)
    ]
    return crosses == [False, True]


@pytest.mark.long(sample=True)
def test_rooms_hold_enough_for_templates_of_objects() -> None:
    rooms = [counts(furnished_room(np.random.default_rng(seed), frames=24), range(0, 24, 4)) for seed in range(18)]
    found = {name: np.mean([room[name] for room in rooms]) for name in WANTED}
    assert all(found[name] >= WANTED[name] for name in WANTED), found


def test_too_many_movers_are_refused() -> None:
    with pytest.raises(ValueError, match="0 to 3"):
        small(0, movers=4)
