"""Colours of the surfaces that rays hit: a mip-mapped texture and a light for every face."""

from collections.abc import Sequence

import cv2
import numpy as np
from jaxtyping import Float, Float32, Float64, UInt8

from spatial_engine.rendering.round_bodies import SIDE, RoundBody, normals, unrolled

_ROW = 256
"""cv2.remap takes at most 32767 rows and columns: lists of pixels are folded into rows of this length."""
_FACE_AXES = ((1, 2), (0, 2), (0, 1))
"""Per normal axis, the box axes along which a face's picture runs across and (downwards) down."""
_LIGHT = np.array([-0.35, -0.55, 0.75]) / np.linalg.norm([-0.35, -0.55, 0.75])
"""Direction towards the light, in the world."""

Pyramid = tuple[UInt8[np.ndarray, "_ _ 3"], ...]


def pyramid(picture: UInt8[np.ndarray, "h w 3"]) -> Pyramid:
    """The picture, and smaller ones by 1 / √2 each: steps too small to be seen."""
    h, w = picture.shape[:2]
    sizes = [(round(w / 2 ** (k / 2)), round(h / 2 ** (k / 2))) for k in range(1, 10)]
    return (picture, *(cv2.resize(picture, s, interpolation=cv2.INTER_AREA) for s in sizes if min(s) >= 2))


def face_size_m(face: int, half_m: Float[np.ndarray, "3"]) -> tuple[float, float]:
    """(across, down) of a face's picture."""
    across, down = _FACE_AXES[face // 2]
    return float(2 * half_m[across]), float(2 * half_m[down])


def face_colours(
    rays: Float32[np.ndarray, "n 3"],
    depth: Float32[np.ndarray, "n"],
    box_from_cam: Float32[np.ndarray, "r 4 4"],
    face: int,
    half_m: Float32[np.ndarray, "3"],
    pixel_rad: float,
    levels: Pyramid,
) -> Float32[np.ndarray, "n 3"]:
    """Texture where rays (camera axes, z = 1) meet a face. `r` is 1 or n; `pixel_rad` is what a pixel spans."""
    axis, axes = face // 2, list(_FACE_AXES[face // 2])
    turned = rays @ box_from_cam[0, axes, :3].T if len(box_from_cam) == 1 else _each(box_from_cam[:, axes, :3], rays)
    points = box_from_cam[:, axes, 3] + depth[:, None] * turned
    share = 0.5 + points / (2 * half_m[axes] * np.array([1, -1], dtype=np.float32))
    off = np.abs(half_m[axis] * (1 if face % 2 else -1) - box_from_cam[:, axis, 3])  # camera to the face's plane
    facing = np.maximum(off / (depth * np.linalg.norm(rays, axis=1)), 0.05)
    texel = face_size_m(face, half_m)[0] / levels[0].shape[1]
    level = 2 * np.log2(np.maximum(depth * np.float32(pixel_rad / texel) / np.sqrt(facing), 1))
    return _sampled(levels, share, np.minimum(np.round(level).astype(np.int8), len(levels) - 1))


def side_colours(
    rays: Float32[np.ndarray, "n 3"],
    depth: Float32[np.ndarray, "n"],
    box_from_cam: Float[np.ndarray, "r 4 4"],
    body: RoundBody,
    pixel_rad: float,
    levels: Pyramid,
) -> tuple[Float32[np.ndarray, "n 3"], Float[np.ndarray, "n 3"]]:
    """Texture where rays meet the curved surface of a body, and its normals there in axes of its box."""
    turned = np.einsum("nij,nj->ni", np.broadcast_to(box_from_cam[:, :3, :3], (len(rays), 3, 3)), rays.astype(float))
    points = box_from_cam[:, :3, 3] + depth[:, None] * turned
    normal = normals(body.form, points, body.half_m)
    facing = np.maximum(-np.sum(normal * turned, axis=1) / np.linalg.norm(turned, axis=1), 0.05)
    texel = body.cover_size_m(SIDE)[0] / levels[0].shape[1]
    level = 2 * np.log2(np.maximum(depth * (pixel_rad / texel) / np.sqrt(facing), 1))
    share = unrolled(body.form, points, body.half_m).astype(np.float32)
    return _sampled(levels, share, np.minimum(np.round(level).astype(np.int8), len(levels) - 1)), normal


def _each(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", matrices, vectors)


def _sampled(levels: Pyramid, share: np.ndarray, level: np.ndarray) -> Float32[np.ndarray, "n 3"]:
    low, high = int(level.min()), int(level.max())
    if low == high:
        return _bilinear(levels[low], share)
    colours = np.empty((len(share), 3), dtype=np.float32)
    for k in range(low, high + 1):
        at = np.flatnonzero(level == k)
        if len(at):
            colours[at] = _bilinear(levels[k], share[at])
    return colours


def _bilinear(picture: UInt8[np.ndarray, "h w 3"], share: Float32[np.ndarray, "n 2"]) -> Float32[np.ndarray, "n 3"]:
    """Samples at fractions (across, down) of a picture."""
    at = np.zeros((-(-len(share) // _ROW) * _ROW, 2), dtype=np.float32)
    at[: len(share)] = share * np.array(picture.shape[1::-1], dtype=np.float32) - np.float32(0.5)
    folded = cv2.remap(picture, at.reshape(-1, _ROW, 2), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return folded.reshape(-1, 3)[: len(share)].astype(np.float32)


def light_on(normals_world: Float[np.ndarray, "*n 3"]) -> Float[np.ndarray, "*n"]:
    """Brightness of surfaces by their outward normals."""
    return np.asarray(0.86 + 0.16 * normals_world @ _LIGHT)


def soft_shadow(
    floor: UInt8[np.ndarray, "h w 3"], footprints_px: Sequence[Float64[np.ndarray, "4 2"]], blur_px: float
) -> UInt8[np.ndarray, "h w 3"]:
    """A floor's picture, darker under and around what stands on it."""
    shade = np.zeros(floor.shape[:2], dtype=np.float32)
    for corners in footprints_px:
        cv2.fillPoly(shade, [np.round(corners).astype(np.int32)], 1.0)
    shade = cv2.GaussianBlur(shade, (0, 0), blur_px)
    return (floor * (1 - 0.5 * shade[..., None])).astype(np.uint8)
