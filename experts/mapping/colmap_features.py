"""COLMAP's database of a clip's keyframes: SIFT keypoints and matches. One thread, fixed seeds.

Our pixels (0 at a pixel's centre, any size) and COLMAP's (0.5 at a pixel's centre, working size) are converted only in
this file and in `experts.mapping.colmap_mapping`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.clip import Clip, GreyPicture
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class FeatureSettings:
    """How keyframes are described and matched."""

    max_features: int = 1500
    """SIFT points per keyframe, the strongest."""
    min_contrast: float = 0.02
    """OpenCV's contrast threshold of SIFT; its default 0.04 finds too little in smooth rooms."""
    ratio: float = 0.8
    """Largest ratio of best to second-best descriptor distance (Lowe 2004), for mutual nearest neighbours."""
    min_matches: int = 15
    """Pairs with fewer are dropped (COLMAP's own threshold)."""
    exhaustive_up_to: int = 20
    """With at most this many keyframes every pair is matched."""
    overlap: int = 5
    """Otherwise each keyframe is matched with this many following ones ..."""
    far_steps: tuple[int, ...] = (8, 16, 32)
    """... and with those at these distances, against drift."""
    seed: int = 0
    """RANSAC seed of the geometric verification."""


@dataclass(frozen=True, kw_only=True)
class MatchedPair:
    """Putative matches of two keyframes, before geometric verification."""

    first: int
    """Place of the first keyframe in the list of keyframes."""
    second: int
    """Place of the second, > first."""
    xy_first: Float64[np.ndarray, "m 2"]
    """Pixels at working size, centres at integers."""
    xy_second: Float64[np.ndarray, "m 2"]
    """Likewise."""


def build_database(
    folder: Path,
    clip: Clip,
    frames: Int64[np.ndarray, "k"],
    valid: Bool[np.ndarray, "*k h w"],
    settings: FeatureSettings,
) -> Path:
    """Detects and matches SIFT features of the keyframes into a database in `folder`; returns its path. No geometry
    yet. `valid`: pixels, of all keyframes or of each, where features may lie."""
    import cv2
    import pycolmap

    cv2.setNumThreads(1)
    sift = cv2.SIFT.create(
        nfeatures=settings.max_features, contrastThreshold=settings.min_contrast, enable_precise_upscale=True
    )
    pictures = clip.read_grey([int(f) for f in frames])
    masks = np.broadcast_to(valid, (len(frames), *valid.shape[-2:]))
    described = [_describe(sift, grey, mask) for (_, grey), mask in zip(pictures, masks, strict=True)]
    path = folder / "matches.db"
    database = pycolmap.Database.open(path)
    width, height = clip.working_size
    camera = pycolmap.Camera(
        model="SIMPLE_RADIAL", width=width, height=height, params=[max(width, height), width / 2, height / 2, 0]
    )  # replaced before mapping
    camera.camera_id = database.write_camera(camera)
    images = [_write_image(database, camera, place, xy) for place, (xy, _) in enumerate(described)]
    for a, b in _pairs(len(frames), settings):
        matches = _match(described[a][1], described[b][1], settings.ratio)
        if len(matches) >= settings.min_matches:
            database.write_matches(images[a], images[b], matches)
    database.close()
    return path


def _describe(sift: Any, grey: GreyPicture, valid: Bool[np.ndarray, "h w"]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct SIFT points (n, 2) and their RootSIFT descriptors (n, 128); one orientation per point."""
    keypoints, descriptors = sift.detectAndCompute(grey, valid.astype(np.uint8) * 255)
    if not keypoints:
        return np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    xy, first = np.unique(np.array([k.pt for k in keypoints], np.float32), axis=0, return_index=True)
    share = descriptors[first] / np.maximum(descriptors[first].sum(axis=1, keepdims=True), 1e-6)
    return xy, np.sqrt(share).astype(np.float32)


def _write_image(database: Any, camera: Any, place: int, xy: Float32[np.ndarray, "n 2"]) -> int:
    """Writes one keyframe with its keypoints; returns its image id. COLMAP requires a rig and a frame for each."""
    import pycolmap

    if not place:
        rig = pycolmap.Rig(rig_id=1)
        rig.add_ref_sensor(camera.sensor_id)
        database.write_rig(rig, use_rig_id=True)
    image = pycolmap.Image(name=f"{place:06d}", camera_id=camera.camera_id, image_id=place + 1)
    database.write_image(image, use_image_id=True)
    frame = pycolmap.Frame(frame_id=place + 1, rig_id=1)
    frame.add_data_id(image.data_id)
    database.write_frame(frame, use_frame_id=True)
    database.write_keypoints(image.image_id, xy + np.float32(0.5))
    return place + 1


def _pairs(keyframes: int, settings: FeatureSettings) -> list[tuple[int, int]]:
    steps = [*range(1, settings.overlap + 1), *settings.far_steps]
    if keyframes <= settings.exhaustive_up_to:
        steps = list(range(1, keyframes))
    return [(a, a + step) for a in range(keyframes) for step in steps if a + step < keyframes]


def _match(a: Float32[np.ndarray, "n d"], b: Float32[np.ndarray, "m d"], ratio: float) -> Int64[np.ndarray, "k 2"]:
    """Mutual nearest neighbours (rows of `a` and `b`) that pass the ratio test."""
    if len(a) < 2 or len(b) < 2:
        return np.zeros((0, 2), np.int64)
    alike = a @ b.T
    best, rows = alike.argmax(axis=1), np.arange(len(a))
    top = alike[rows, best]
    mutual = top == alike.max(axis=0)[best]
    rows, best, top = rows[mutual], best[mutual], top[mutual]
    rest = alike[rows]
    rest[np.arange(len(rows)), best] = -1
    clear = 1 - top < ratio**2 * (1 - rest.max(axis=1))  # squared distance of unit vectors is 2 - 2·cosine
    return np.stack([rows[clear], best[clear]], axis=1)


def read_pairs(database: Path) -> list[MatchedPair]:
    """All putative matches, by (first, second)."""
    import pycolmap

    opened = pycolmap.Database.open(database)
    place = {image.image_id: int(image.name) for image in opened.read_all_images()}
    xy = {image: opened.read_keypoints(image)[:, :2] - 0.5 for image in place}
    pairs = []
    for pair_id, matches in zip(*opened.read_all_matches(), strict=True):
        a, b = pycolmap.pair_id_to_image_pair(pair_id)
        rows = np.asarray(matches).astype(np.int64)
        if place[a] > place[b]:
            a, b, rows = b, a, rows[:, ::-1]
        pairs.append(
            MatchedPair(
                first=place[a],
                second=place[b],
                xy_first=xy[a][rows[:, 0]].astype(np.float64),
                xy_second=xy[b][rows[:, 1]].astype(np.float64),
            )
        )
    opened.close()
    return sorted(pairs, key=lambda pair: (pair.first, pair.second))


def verified_copy(database: Path, target: Path, camera: Intrinsics, fixed: bool, seed: int) -> None:
    """A copy of the database with another camera (`copy_with_camera`), and two-view geometries estimated with it."""
    import pycolmap

    copy_with_camera(database, target, camera, fixed)
    opened = pycolmap.Database.open(target)
    opened.clear_two_view_geometries()
    opened.close()
    geometry = pycolmap.TwoViewGeometryOptions()
    geometry.ransac.random_seed = seed
    geometry.ransac.max_num_trials = 2000  # enough for a third of inliers; hopeless pairs cost seconds
    with quiet():
        pycolmap.geometric_verification(
            target, pycolmap.GeometricVerifierOptions(num_threads=1), two_view_geometry_options=geometry
        )


def copy_with_camera(database: Path, target: Path, camera: Intrinsics, fixed: bool) -> None:
    """A copy of the database with another camera (working size).

    `fixed`: the whole camera is used unchanged; otherwise only its focal length, as an initial value.
    """
    import pycolmap

    shutil.copy(database, target)
    opened = pycolmap.Database.open(target)
    [stored] = opened.read_all_cameras()
    stored.model = pycolmap.CameraModelId.OPENCV if fixed else pycolmap.CameraModelId.SIMPLE_RADIAL
    cx, cy = camera.cx_px + 0.5, camera.cy_px + 0.5
    focal = [camera.fx_px, camera.fy_px] if fixed else [camera.fx_px]
    stored.params = [*focal, cx, cy, camera.k1] + ([0.0, 0.0, 0.0] if fixed else [])
    stored.has_prior_focal_length = True
    opened.update_camera(stored)
    opened.close()


@contextmanager
def quiet() -> Iterator[None]:
    """Suppresses COLMAP's messages except fatal errors."""
    import pycolmap

    level = pycolmap.logging.minloglevel
    pycolmap.logging.minloglevel = 3
    try:
        yield
    finally:
        pycolmap.logging.minloglevel = level
