"""Round bodies: every point that a picture's depth gives lies on their surface, and outlines are those of the body."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.round_bodies import Form, RoundBody, normals, standing_body
from spatial_engine.rendering.scene import camera
from tests.spatial_engine.rendering.test_scene import unprojected

FORMS = ("ball", "cylinder", "cone")


def with_body(form: Form, seed: int) -> RenderedScene:
    """One body in any pose before the camera, in a large room."""
    rng = np.random.default_rng(seed)
    width, height = rng.uniform(0.2, 0.8, 2)
    body = standing_body(form, "body", (width, width if form == "ball" else height), (0, 0, 0), side=OAK)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
    pose[:3, 3] = [3 + rng.uniform(-0.4, 0.4), 3 + rng.uniform(1.2, 2.5), 1.5 + rng.uniform(-0.4, 0.4)]
    return RenderedScene(
        intrinsics=camera(96, 72, vfov_deg=60),
        room=room((6, 8, 3), OAK, (OAK,) * 4, CEILING),
        boxes=(RoundBody(**{**vars(body), "world_from_box": pose}),),
        world_from_cam=camera_paths.static(1, Stance(at_m=(3, 3, 1.5))),
        fps=10,
        texel_m=0.04,
    )


def distance(form: Form, points: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Of points from the surface of a body: from its outline in the plane through its axis, as a polygon or circle."""
    across, up = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    if form == "ball":
        return np.abs(np.hypot(across, up) - half[0])
    corners = {"cylinder": [(0, 1), (1, 1), (1, -1), (0, -1)], "cone": [(0, 1), (1, -1), (0, -1)]}[form]
    outline = np.array(corners) * [half[0], half[2]]
    start, along = outline[:-1], np.diff(outline, axis=0)
    at = np.stack([across, up], axis=1)[:, None] - start
    share = np.clip((at * along).sum(axis=2) / (along**2).sum(axis=1), 0, 1)
    return np.linalg.norm(at - share[..., None] * along, axis=2).min(axis=1)


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_depth_lies_on_the_side_of_the_surface_that_faces_the_camera(form: Form, seed: int) -> None:
    scene = with_body(form, seed)
    (body,), seen = scene.boxes, scene.ids(0) == 0
    turn, middle = body.world_from_box[:3, :3], body.world_from_box[:3, 3]
    points = (unprojected(scene, 0)[seen] - middle) @ turn
    assert seen.sum() > 10 and distance(form, points, body.half_m).max() < 1e-4
    nearer = points + 0.02 * (towards := (scene.world_from_cam[0, :3, 3] - middle) @ turn - points) / np.linalg.norm(
        towards, axis=1, keepdims=True
    )
    inside = np.abs(nearer[:, 2]) < body.half_m[2]
    inside &= np.hypot(nearer[:, 0], nearer[:, 1]) < reach(form, nearer[:, 2], body.half_m)
    assert inside.mean() < 0.01


def reach(form: Form, up: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Radius of a body at a height."""
    share = up / half[2]
    if form == "ball":
        return half[0] * np.sqrt(np.maximum(1 - share**2, 0))
    return half[0] * (np.ones_like(share) if form == "cylinder" else (1 - share) / 2)


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_pixel_shows_the_body_if_its_ray_passes_through_it(form: Form, seed: int) -> None:
    scene = with_body(form, seed)
    (body,), lens = scene.boxes, scene.camera(0)
    x, y = np.meshgrid(np.arange(lens.width_px), np.arange(lens.height_px))
    rays = lens.rays(np.stack([x, y], axis=-1).astype(float)) @ scene.world_from_cam[0, :3, :3].T
    along = np.linspace(0.3, 4, 1500)[:, None]
    for row, column in np.random.default_rng(seed).integers(0, [72, 96], (60, 2)):
        points = scene.world_from_cam[0, :3, 3] + along * rays[row, column] - body.world_from_box[:3, 3]
        points = points @ body.world_from_box[:3, :3]
        across = np.hypot(points[:, 0], points[:, 1]) - reach(form, points[:, 2], body.half_m)
        depth_inside = np.minimum(-across, body.half_m[2] - np.abs(points[:, 2])).max()
        if abs(depth_inside) > 0.01:
            assert (scene.ids(0)[row, column] == 0) == (depth_inside > 0)


@pytest.mark.parametrize("form", FORMS)
def test_normals_point_out_of_the_body(form: Form) -> None:
    half, angle = np.array([0.3, 0.3, 0.5 if form != "ball" else 0.3]), np.linspace(0, 6, 40)
    up = np.linspace(-0.9, 0.9, 40) * half[2]
    radius = reach(form, up, half)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), up], axis=1)
    normal = normals(form, points, half)
    for step in (1e-3, -1e-3):
        moved = points + step * normal
        assert (np.sign(np.hypot(moved[:, 0], moved[:, 1]) - reach(form, moved[:, 2], half)) == np.sign(step)).all()
    assert np.allclose(distance(form, points + 1e-2 * normal, half), 1e-2, atol=1e-4)


def test_round_objects_leave_the_rest_of_a_room_as_it_is() -> None:
    plain, changed = (
        furnished_room(np.random.default_rng(3), frames=6, width_px=96, height_px=72, round_objects=each)
        for each in (False, True)
    )
    bodies = [box for box in changed.boxes if isinstance(box, RoundBody)]
    assert {body.form for body in bodies} == set(FORMS) and len(bodies) >= 10
    assert not any(isinstance(box, RoundBody) for box in plain.boxes)
    assert changed.seed == plain.seed and np.array_equal(changed.world_from_cam, plain.world_from_cam)
    kept = {(box.name, box.world_from_box[:2, 3].tobytes()) for box in changed.boxes}
    assert {(box.name, box.world_from_box[:2, 3].tobytes()) for box in plain.boxes} <= kept
    assert changed.picture(2).std() > 20
    objects = true_signals(changed, as_clip(changed), frames=[0])["objects"]
    assert {"ball", "bin", "traffic cone"} <= set(objects.labels)
