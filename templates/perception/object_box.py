"""L1/Localization/3D Detection: the box of an object in space, as nine numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations, product
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from templates.answers import Answer, Box3D
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.named import all_listed, seen_rows, unique_among, unique_names
from templates.scene.object_boxes import boxes_of, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_AXES = np.array(
    [
        np.eye(3)[list(order)] * signs
        for order in permutations(range(3))
        for signs in product([1.0, -1.0], repeat=3)
        if np.linalg.det(np.eye(3)[list(order)] * signs) > 0
    ]
)
"""The 24 ways to name the axes of a box."""
_LEAST_SIDE = 0.05
"""Shortest side of a box in distances from the camera: nobody places a thinner one well enough to overlap by half."""
_MOST_BENT = 0.01
"""Largest shift of the middle by the distortion of the lens, as a share of the photo's diagonal."""


@dataclass(frozen=True, kw_only=True)
class BoxedObjects(Facts):
    """An object of a photo."""

    object: ObjectRefs
    marked: Bool[np.ndarray, "n"]
    """Whether a box is drawn around it: its name alone does not single it out."""


@dataclass(frozen=True, kw_only=True)
class ObjectBox(Template):
    """The oriented box of an object. Measures the nine numbers of `Box3D`, and four of the camera."""

    name: str = "object_box"
    version: str = "2"
    ability: str = "L1/Localization/3D Detection"
    formats: tuple[FormatName, ...] = ("json",)
    facts: ClassVar[type[Facts]] = BoxedObjects
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> BoxedObjects:
        """Random whole objects; those that their name does not single out are marked."""
        seen = seen_objects(scene)
        unique = unique_names(scene) & all_listed(scene, seen.called)
        alone, several = (boxed(seen.take(which), scene) for which in (unique, ~unique))
        marked = np.arange(len(alone) + len(several)) >= len(alone)
        rows = rng.permutation(len(marked))[:count]
        return BoxedObjects(object=seen.concatenated([alone, several]).take(rows).refs(), marked=marked[rows])

    def measure(self, facts: BoxedObjects, scene: Scene) -> Measured:
        """The box with its axes named so that its angles are smallest; σ of its place, its sides and the metre."""
        frame, found = facts.object.frame, found_again(scene, facts.object)
        known, pose, size, centre_sigma, size_sigma = boxes_of(scene, frame, found)
        with np.errstate(invalid="ignore"):
            cam_from_box = np.linalg.inv(scene.world_from_cam(frame)) @ pose
        known = known & np.isfinite(cam_from_box).all(axis=(1, 2)) & np.isfinite(size).all(axis=1)
        cam_from_box = np.where(known[:, None, None], cam_from_box, np.eye(4))
        rotation, size, size_sigma = _facing(cam_from_box[:, :3, :3], size, size_sigma)
        camera, uv = _camera(scene), _uv(scene, cam_from_box[:, :3, 3])
        metre, z = scene.metre_relative_sigma, cam_from_box[:, 2, 3]
        angles = Rotation.from_matrix(rotation).as_euler("YXZ", degrees=True)[:, ::-1].reshape(-1, 3)
        with np.errstate(invalid="ignore", divide="ignore"):
            side = np.hypot(size_sigma, size * metre)
            uv_sigma = centre_sigma[:, None] * camera[:2] / z[:, None]
            value = np.column_stack([uv, z, size, angles, np.tile(camera, (len(facts), 1))])
            depth_sigma = np.hypot(centre_sigma, z * metre)
            sigma = np.column_stack([uv_sigma, depth_sigma, side, _turn_sigma_deg(size, size_sigma)])
        row = seen_rows(scene, frame, found)
        alone = unique_among(scene, frame, found) & all_listed(scene, facts.object.name)
        cases = {
            "scale is not metric": np.full(len(facts), np.isnan(metre)),
            "an object is not found again": row < 0,
            "the name may mean another object in the photo, too": ~alone & ~facts.marked,
            "the box of an object is not known": ~known | (z <= 0) | ~np.isfinite(sigma).all(axis=1),
            "the object is too thin": size.min(axis=1) < _LEAST_SIDE * z,
            "the lens distorts the photo too much": _bent(scene, cam_from_box[:, :3, 3]),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=np.column_stack([sigma, np.zeros((len(facts), 4))]),
            outlier_probability=outliers(scene, found),
            evidence={"name": facts.object.name, "centre_m": np.round(cam_from_box[:, :3, 3], 2)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Box3D:
        """The nine numbers; right is a box that overlaps by half."""
        return Box3D(
            value=measured.value[:, :9],
            sigma=measured.sigma[:, :9],
            camera=measured.value[:, 9:],
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo, with a box around an object whose name does not single it out."""
        ref, marked = fact["object"], fact["marked"]
        marks = (Box(points_px=tuple(map(tuple, ref["box_px"]))),) if marked else ()
        return Phrasing(
            media=(Photo(frame=ref["frame"], marks=marks),),
            wording="json.marked" if marked else "json.named",
            values={"name": ref["name"]},
        )


def _facing(
    rotation: Float64[np.ndarray, "n 3 3"], size: Float64[np.ndarray, "n 3"], size_sigma: Float64[np.ndarray, "n 3"]
) -> tuple[Float64[np.ndarray, "n 3 3"], Float64[np.ndarray, "n 3"], Float64[np.ndarray, "n 3"]]:
    """The same boxes with their axes named so that they are turned least from the camera's."""
    turned = rotation[:, None] @ np.swapaxes(_AXES, 1, 2)
    best = np.trace(turned, axis1=2, axis2=3).argmax(axis=1)
    axis = np.abs(_AXES).argmax(axis=2)[best]
    sides, sigmas = (np.take_along_axis(each, axis, axis=1) for each in (size, size_sigma))
    return turned[np.arange(len(rotation)), best], sides, sigmas


def _turn_sigma_deg(size: Float64[np.ndarray, "n 3"], size_sigma: Float64[np.ndarray, "n 3"]) -> np.ndarray:
    """σ of roll, pitch and yaw: the sides across each axis turn by what their ends may be off."""
    across = np.array([[0, 1], [1, 2], [0, 2]])
    return np.degrees(np.linalg.norm(size_sigma[:, across], axis=2) / size[:, across].max(axis=2))


def _camera(scene: Scene) -> Float64[np.ndarray, "4"]:
    """fx, fy, cx and cy in thousandths of width and height."""
    if scene.path is None:
        return np.full(4, np.nan)
    lens = scene.path.intrinsics
    pixels = np.array([lens.fx_px, lens.fy_px, lens.cx_px + 0.5, lens.cy_px + 0.5])
    return 1000 * pixels / np.tile([lens.width_px, lens.height_px], 2)


def _uv(scene: Scene, xyz_cam: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 2"]:
    """In thousandths of width and height, without distortion."""
    camera = _camera(scene)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(camera[2:] + camera[:2] * xyz_cam[:, :2] / xyz_cam[:, 2:])


def _bent(scene: Scene, xyz_cam: Float64[np.ndarray, "n 3"]) -> Bool[np.ndarray, "n"]:
    if scene.path is None:
        return np.zeros(len(xyz_cam), dtype=bool)
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    straight = _uv(scene, xyz_cam) / 1000 * size - 0.5
    with np.errstate(invalid="ignore"):
        shift = np.linalg.norm(scene.path.intrinsics.project(xyz_cam) - straight, axis=1)
        return np.asarray(shift > _MOST_BENT * scene.diagonal_px)
