"""Motion of a marked point: from tracks, and from poses of objects."""

from dataclasses import replace

import numpy as np

from experts.provenance import Provenance
from experts.signals import Objects, PointTracks
from templates.measured import Measured
from templates.scene.point_motion import point_motion, tracks_at
from templates.scene.scene import Scene
from tests.templates import worlds

FRAMES = [0, 2, 4]
OUTLINE = "at the outline of a moving object"
MOVING = np.array([[300.0, 200], [360, 200], [300, 260], [360, 260], [330, 230], [305, 230]])
STATIC = np.array([[100.0, 100], [335, 240], [295, 230]])


def scene(**changes: np.ndarray) -> Scene:
    """Six tracks on a moving object, one far from it, one inside its outline, one at its border."""
    xy = np.concatenate([MOVING, STATIC])
    moving = np.arange(len(xy)) < len(MOVING)
    tracks = PointTracks(
        frames=np.array(FRAMES),
        xy_px=np.repeat(xy[:, None], 3, axis=1),
        visible=np.ones((len(xy), 3), dtype=bool),
        sigma_px=np.full((len(xy), 3), 0.5),
        outlier_probability=np.full(len(xy), 0.003),
        motion=moving.astype(np.int32),
        residual_px=np.where(moving, 12.0, 0.4),
        moving_pairs=np.where(moving, 9, 0).astype(np.int32),
        parallax_px=np.full(len(xy), 20.0),
        provenance=Provenance(expert="made up", version="1"),
    )
    return worlds.scene({"tracks": replace(tracks, **changes)})


def motion(made: Scene, xy: np.ndarray, frames: list[int] | None = None, frame: int = 0) -> Measured:
    """Of pixels (k, 2) of one frame, over the same frames."""
    shown = np.tile(FRAMES if frames is None else frames, (len(xy), 1))
    return point_motion(made, np.full(len(xy), frame), xy, shown)


def test_points_well_inside_and_well_outside_are_decided_and_those_at_the_outline_are_not() -> None:
    """Also those that contradict it: a static track inside, a moving one outside."""
    found = motion(scene(), np.concatenate([MOVING, STATIC]))
    assert found.label is not None and found.margin is not None
    assert found.why[[4, 6]].tolist() == ["", ""] and found.label[[4, 6]].tolist() == ["yes", "no"]
    assert (found.margin[[4, 6]] >= 3).all()
    assert found.why[[0, 5, 7, 8]].tolist() == [OUTLINE] * 4


def test_a_point_that_is_hidden_in_one_photo_is_not_asked_about() -> None:
    visible = np.ones((9, 3), dtype=bool)
    visible[4, 1] = False
    assert motion(scene(visible=visible), MOVING[4:5]).why.tolist() == ["point is not seen in all photos"]
    assert motion(scene(visible=visible), MOVING[4:5], [0, 4, -1]).why.tolist() == [""]  # shorter rows end in -1


def test_a_pixel_or_a_frame_without_a_track_is_not_decided() -> None:
    nowhere = np.array([[20.0, 20.0]])
    assert motion(scene(), nowhere).why.tolist() == ["point is not tracked"]
    assert motion(scene(), MOVING[4:5], [1, 2, 4], 1).why.tolist() == ["point is not tracked"]
    assert motion(worlds.scene({}), MOVING[4:5]).why.tolist() == ["point is not tracked"]


def test_an_unknown_pixel_has_no_track() -> None:
    xy = np.array([[np.nan, np.nan], MOVING[4], [np.nan, 200.0], [np.inf, 200.0]])
    assert tracks_at(scene(), np.zeros(4, dtype=np.int64), xy).tolist() == [-1, 4, -1, -1]
    assert motion(scene(), xy[:3]).why.tolist() == ["point is not tracked", "", "point is not tracked"]
    assert tracks_at(scene(), np.zeros(1, dtype=np.int64), xy[:1]).tolist() == [-1]


def test_little_parallax_does_not_decide_no() -> None:
    found = motion(scene(parallax_px=np.full(9, 3.0)), STATIC[:1])
    assert found.why[0] == "" and found.margin is not None and found.margin[0] < 2.33


def scene_with_objects(shift: float, complete: tuple[str, ...] = ("*",)) -> Scene:
    """One object in the middle of the picture that goes `shift` path units to the right."""
    signals = worlds.signals(with_gravity=False)
    ids = np.full((3, 48, 64), -1, dtype=np.int32)
    ids[:, 20:30, 25:40] = 0
    poses = np.tile(np.eye(4), (3, 1, 1, 1))
    poses[:, 0, 0, 3] = np.linspace(0, shift, 3)
    objects = Objects(
        frames=np.array(FRAMES),
        labels=("box",),
        ids=ids,
        world_from_object=poses,
        provenance=Provenance(expert="made up", version="1"),
        complete=complete,
    )
    return worlds.scene({**signals, "objects": objects, "depth": worlds.slope(np.array(FRAMES))})


def test_poses_decide_except_at_the_outline() -> None:
    border, inside, beside = (np.array([[x, 250.0]]) for x in (249.0, 320.0, 100.0))  # 10 px a cell: from x = 250 on
    made = scene_with_objects(1.0)
    assert motion(made, border).why.tolist() == ["at the border of an object"]
    found = motion(made, np.concatenate([inside, beside]))
    assert found.label is not None and found.why.tolist() == ["", ""] and found.label.tolist() == ["yes", "no"]
    assert motion(scene_with_objects(0.01), inside).why.tolist() == ["the object moves too little to decide"]


def test_tracks_decide_where_objects_are_not_listed() -> None:
    """A car that a dataset does not list moves too."""
    beside, inside = np.array([[100.0, 250.0]]), np.array([[320.0, 250.0]])
    partly = scene_with_objects(1.0, complete=("box",))
    assert motion(partly, beside).why.tolist() == ["point is not tracked"]
    assert motion(partly, inside).label.tolist() == ["yes"]
    assert motion(scene_with_objects(1.0), beside, [8], 8).why.tolist() == ["point is not tracked"], "no masks there"
    with_tracks = replace(partly, signals={**partly.signals, "tracks": scene().signals["tracks"]})
    assert motion(with_tracks, STATIC[:1]).why.tolist() == [""]


def with_poses(world_from_object: np.ndarray) -> Scene:
    """The object of `scene_with_objects` at these poses."""
    made = scene_with_objects(0.0)
    objects = made.signals["objects"]
    assert isinstance(objects, Objects)
    moved = replace(objects, world_from_object=world_from_object[:, None])
    return replace(made, signals={**made.signals, "objects": moved})


def test_what_moves_and_comes_back_between_the_photos_is_not_called_still() -> None:
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[1, 0, 3] = 1.0
    inside, unsure = np.array([[320.0, 250.0]]), ["the object moves too little to decide"]
    assert motion(with_poses(poses), inside, [0, 4]).why.tolist() == unsure
    assert motion(with_poses(poses), inside).label.tolist() == ["yes"], "the second photo shows it elsewhere"
    assert motion(with_poses(np.tile(np.eye(4), (3, 1, 1))), inside, [0, 4]).label.tolist() == ["no"]


def test_a_spot_on_the_axis_of_what_turns_in_place_is_neither_moving_nor_still() -> None:
    made, frame, inside = scene_with_objects(0.0), np.zeros(1, dtype=np.int64), np.array([[320.0, 250.0]])
    start = (made.world_from_cam(frame) @ np.append(made.surface(frame, inside).xyz_cam[0], 1))[0, :3]
    for away, answer in ((0.0, "the object moves too little to decide"), (1.0, "yes")):
        poses = np.tile(np.eye(4), (3, 1, 1))
        poses[:, :3, 3] = start + np.array([away, 0, 0])
        poses[1:, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
        found = motion(with_poses(poses), inside)
        assert found.label is not None and (found.why[0] or found.label[0]) == answer
