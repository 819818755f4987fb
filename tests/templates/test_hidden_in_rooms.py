"""What photos do not show, in rendered rooms: answered again from wider pictures and rays of the renderer."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_grounding_in_rooms import point

WIDER = 3
ASIDE = {"left": (0, -1), "right": (0, 1), "upper": (1, -1), "lower": (1, 1)}
"""Axis and sign of the way outwards."""


@lru_cache(maxsize=2)
def wider(scene: RenderedScene) -> RenderedScene:
    """The same cameras with pictures three times as wide and high, the same pixels in their middle."""
    camera = scene.intrinsics
    return replace(
        scene,
        intrinsics=replace(
            camera,
            width_px=WIDER * camera.width_px,
            height_px=WIDER * camera.height_px,
            cx_px=camera.cx_px + camera.width_px,
            cy_px=camera.cy_px + camera.height_px,
        ),
    )


def around(scene: RenderedScene, frame: int, xy_px: Json, edge: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the wider picture shows outside the photo on the side of an edge: ids, angles from a pixel, in degrees, and
    whether the row or the column of the pixel, and a little beside it, goes there."""
    camera, ids = scene.intrinsics, wider(scene).object_ids(frame)
    size = np.array([camera.width_px, camera.height_px])
    xy = np.stack(np.meshgrid(*[np.arange(WIDER * side) - side for side in size]), axis=-1).astype(float)
    rays = camera.rays(xy)
    (ray,) = camera.rays(np.array([xy_px], dtype=float))
    axis, sign = ASIDE[edge]
    out = sign * (xy[..., axis] - xy_px[axis]) > 0
    out &= ((xy < 0) | (xy > size - 1)).any(axis=-1)
    across = np.cross(ray, np.eye(3)[axis])
    aside = np.degrees(np.arcsin(rays @ (across / np.linalg.norm(across))))
    angle = np.degrees(np.arccos(np.clip(rays @ ray, -1, 1)))
    return ids[out], angle[out], np.abs(aside[out]) <= 3.5


def comes_first(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """In the wider picture, the object is the first one; none of another option's name is near; the photo lacks it."""
    refs = [fact[key] for key in ("first", "second", "third", "fourth")]
    ids, angle, straight = around(scene, fact["frame"], fact["point_px"], fact["edge"])
    (row,) = [meant(scene, ref) for ref in refs if ref["name"] == answer]
    own = angle[(ids == row) & straight]
    names = {ref["name"] for ref in refs} - {answer}
    wrong = [k for k, item in enumerate(scene.objects) if folded(item.name) in names]
    if not len(own) or (scene.object_ids(fact["frame"]) == row).any() or len(names) != 3:
        return False
    first = own.min()
    rest, others = angle[np.isin(ids, wrong)], angle[(ids >= 0) & (ids != row)]
    return bool(first < 17 and rest.min(initial=180) > first + 9 and others.min(initial=180) > first - 4)


def marks_beyond(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By pixels of the wider pictures, which go on like the photo: the mark is in the row or column of the point, and
    every other one outside is farther from there, seen from the camera."""
    frame, camera = fact["frame"], scene.intrinsics
    pixels, rays = [], []
    for xy_px in fact["marks_px"]:
        spot = scene.world_from_cam[fact["frame_marked"]] @ [*point(scene, fact["frame_marked"], xy_px), 1.0]
        there = (np.linalg.inv(scene.world_from_cam[frame]) @ spot)[:3]
        rays.append(there / np.linalg.norm(there))
        pixels.append(camera.project(there))
    inside = camera.contains(np.array(pixels))
    (start,) = camera.rays(np.array([fact["point_px"]]))
    away = np.where(inside, 180.0, np.degrees(np.arccos(np.clip(np.array(rays) @ start, -1, 1))))
    first, (axis, sign) = int(str(answer)) - 1, ASIDE[fact["edge"]]
    last = 0 if sign < 0 else (camera.width_px, camera.height_px)[axis] - 1
    past = sign * (pixels[first][axis] - last) > 0
    across = np.abs(pixels[first] - np.array(fact["point_px"]))[1 - axis]
    beside = across < 0.15 * camera.width_px
    return bool(past and beside and away.argmin() == first and np.sort(away)[1] > away[first] + 8)


def across(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the places in the room: the plan as complex numbers, heights, and distances; each point must project outside
    the other photo."""
    pairs = (fact["frame"], fact["point_px"]), (fact["frame_other"], fact["other_px"])
    spots = [(scene.world_from_cam[frame] @ [*point(scene, frame, xy_px), 1.0])[:3] for frame, xy_px in pairs]
    for spot, frame in zip(spots, (fact["frame_other"], fact["frame"]), strict=True):
        there = (np.linalg.inv(scene.world_from_cam[frame]) @ [*spot, 1.0])[:3]
        if there[2] > 0 and scene.intrinsics.contains(scene.intrinsics.project(there)):
            return False
    offset = np.array(spots) - scene.world_from_cam[fact["frame"], :3, 3]
    p, q = offset[:, 0] + 1j * offset[:, 1]
    to_left, higher, nearer = (
        (q / p).imag > 0,
        offset[1, 2] > offset[0, 2],
        np.linalg.norm(offset, axis=1).argmin() == 1,
    )
    true = {"to the left" if to_left else "to the right", "higher" if higher else "lower"}
    true |= {"nearer" if nearer else "farther"}
    said = {fact[name] for name in ("sideways", "height", "distance")} - {""}
    if len(said) == 1:
        return (answer == "yes") == (said <= true)
    return said & true == {answer}


def share_behind(scene: RenderedScene, frame: int, occluder: int, row: int) -> float:
    """Share of the lines from the camera to points on an object that meet a box of another one before."""
    eye, points = scene.world_from_cam[frame, :3, 3], surface(scene, row, frame)
    poses, met = scene.world_from_boxes(frame), np.zeros(len(points), dtype=bool)
    for k in scene.objects[occluder].boxes:
        start, along = (eye - poses[k][:3, 3]) @ poses[k][:3, :3], (points - eye) @ poses[k][:3, :3]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort([(side * scene.furniture[k].half_m - start) / along for side in (-1, 1)], axis=0)
        enters, leaves = np.nanmax(ends[0], axis=1), np.nanmin(ends[1], axis=1)
        met |= (enters < leaves) & (enters > 0) & (enters < 0.999)
    return float(met.mean())


def hides(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By lines from the camera: most of those to the hidden object, and none to the others, meet the occluder."""
    frame, occluder = fact["anchor"]["frame"], meant(scene, fact["anchor"])
    rows = [meant(scene, fact[name]) for name in ("first", "second", "third")]
    shares = [share_behind(scene, frame, occluder, row) for row in rows]
    right = int(str(answer)) - 1
    gone = not (scene.object_ids(frame) == rows[right]).any()
    return gone and shares[right] >= 0.8 and max(shares[:right] + shares[right + 1 :]) <= 0.01


RIGHT = {"behind_it": hides, "relation_across": across, "beyond_frame": comes_first, "point_beyond": marks_beyond}


@seeds(0, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(
        scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, {*RIGHT} - {"behind_it"}
    )  # few cameras go round what hides things


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())
