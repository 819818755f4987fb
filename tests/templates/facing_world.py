"""The made-up world with objects that face given ways."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Gravity, ObjectOrientation, Objects, Signal
from tests.templates import worlds

KNOWN = 6
"""Number of objects of the world."""


def facing(
    headings_deg: list[float],
    places: list[tuple[float, float]] | None = None,
    *,
    tilts_deg: list[float] | None = None,
    sigma_deg: float = 1.0,
    fronts: int = 1,
    signals: dict[str, Signal] | None = None,
) -> dict[str, Signal]:
    """The first objects face these ways, clockwise from the world's +y (ahead of the first camera); the others have no
    front. `places`: x and y of each, at the height of the camera. `tilts_deg`: how far each leans back."""
    known = signals or worlds.signals()
    objects, orientation, path = known["objects"], known["object_orientation"], known["camera_path"]
    assert isinstance(objects, Objects) and isinstance(orientation, ObjectOrientation) and isinstance(path, CameraPath)
    poses, count = objects.world_from_object.copy(), len(headings_deg)
    if places is not None:
        poses[:, : len(places), :2, 3] = places
        poses[:, : len(places), 2, 3] = 0
    north = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # x front, y left, z up of what faces +y
    lean = Rotation.from_euler("y", -np.array(tilts_deg or [0.0] * count)[:, None], degrees=True)
    turned = Rotation.from_euler("z", -np.array(headings_deg)[:, None], degrees=True)
    axes = turned.as_matrix() @ north @ lean.as_matrix()
    cam_from_object = np.full((len(objects.frames), KNOWN, 3, 3), np.nan)
    cam_from_object[:, :count] = np.swapaxes(path.world_from_cam[:, None, :3, :3], 2, 3) @ axes
    each = np.where(np.arange(KNOWN) < count, fronts, -1).astype(np.int32)
    return worlds.detected({**known, "objects": replace(objects, world_from_object=poses)}) | {
        "object_orientation": replace(
            orientation,
            cam_from_object=cam_from_object,
            sigma_rad=np.full((len(objects.frames), KNOWN, 3), np.radians(sigma_deg)),
            fronts=np.tile(each, (len(objects.frames), 1)),
        )
    }


def mirrored(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The objects of the footage as a mirror shows them: x → -x in every camera."""
    flip, across = np.diag([-1.0, 1, 1, 1]), np.diag([1.0, -1, 1])
    objects, orientation, gravity = signals["objects"], signals["object_orientation"], signals["gravity"]
    assert isinstance(objects, Objects) and isinstance(orientation, ObjectOrientation) and isinstance(gravity, Gravity)
    seen = worlds.mirrored(signals) | {
        "objects": replace(objects, world_from_object=flip @ objects.world_from_object @ flip),
        "gravity": replace(gravity, up_cam=gravity.up_cam * [-1, 1, 1]),
    }
    axes = flip[:3, :3] @ orientation.cam_from_object @ across
    return worlds.detected(seen) | {"object_orientation": replace(orientation, cam_from_object=axes)}
