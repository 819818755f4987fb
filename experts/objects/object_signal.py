"""From the detections of single frames to `Objects`: followed over the frames, placed in the world, and confirmed.

Detectors, segmenters and users' files differ only in where the detections come from. Without a box in the world an
object may still have a rough place (`rough_places`). Weak points: many equal objects close together (they are dropped
rather than confused), thin parts, round objects seen from one side.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Clip
from experts.depth.depth_views import UnprojectionSettings, View, views_of
from experts.objects.confirmation import (
    ConfirmationSettings,
    name_outlier_probability,
    outlier_probability,
)
from experts.objects.detections import SegmentedFrame, restrict_to_valid_area
from experts.objects.mask_points import MaskPoints, unprojected
from experts.objects.object_boxes import BoxSettings, ObjectBox, fitted, is_static
from experts.objects.object_following import Follower, FollowingSettings, Track, numbered, tracks_at
from experts.objects.object_names import kind_of
from experts.objects.rough_places import RoughSettings, central_points, observed, points_inside, rough_place
from experts.provenance import Provenance
from experts.signals import (
    CameraPath,
    Depth,
    Gravity,
    ImageTracks,
    NoEstimate,
    Objects,
    Signal,
    Signals,
    SparsePoints,
    ValidArea,
)


@dataclass(frozen=True, kw_only=True)
class ObjectSettings:
    """Values without a source were chosen, not measured."""

    mask_side_px: int = 480
    """Longer side of the stored masks."""
    min_frames: int = 2
    """Objects in fewer frames are dropped, unless the clip has no more."""
    up_disagreement_rad: float = float(np.deg2rad(5.0))
    """Boxes are upright only if the up directions of the frames agree within this (root mean square), and their σ is
    less."""
    following: FollowingSettings = field(default_factory=FollowingSettings)
    unprojection: UnprojectionSettings = field(default_factory=UnprojectionSettings)
    box: BoxSettings = field(default_factory=BoxSettings)
    rough: RoughSettings = field(default_factory=RoughSettings)
    confirmation: ConfirmationSettings = field(default_factory=ConfirmationSettings)


MAY_USE = frozenset({"depth", "camera_path", "gravity", "valid_area", "image_tracks", "sparse_points"})
"""Signals that `objects_of` reads where they exist."""


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What the signals say of the frames."""

    path: CameraPath | None
    """With usable positions, else None."""
    views: list[View | None]
    up_world: Float64[np.ndarray, "3"] | None
    tilt_sigma_rad: float


def mask_size(width_px: int, height_px: int, settings: ObjectSettings) -> tuple[int, int]:
    """(height, width) of the masks of pictures of this size."""
    factor = min(1.0, settings.mask_side_px / max(width_px, height_px))
    return max(1, round(height_px * factor)), max(1, round(width_px * factor))


def objects_of(
    clip: Clip,
    signals: Signals,
    detected: Mapping[int, SegmentedFrame],
    names: Sequence[str],
    settings: ObjectSettings,
    provenance: Provenance,
    checked: Collection[str] = (),
) -> Objects | None:
    """The objects of a clip; None if no detection can be followed.

    Args:
        clip: footage.
        signals: those of `MAY_USE` that exist.
        detected: detections by frame; their boxes are in full-size pixels where they have no masks.
        names: of the labels of the detections.
        settings: thresholds.
        provenance: of the signal.
        checked: names that a person vouches for; "*": all.
    """
    frames = np.array(sorted(detected), dtype=np.int64)
    valid = signals.get("valid_area")
    found = [
        restrict_to_valid_area(detected[int(f)], valid.valid if isinstance(valid, ValidArea) else None) for f in frames
    ]
    size = found[0].ids.shape[0], found[0].ids.shape[1]
    known = _known(frames, size, signals, settings)
    parts = _parts(frames, found, known, signals, (clip.height_px, clip.width_px), settings)
    follower = Follower(
        frames=found,
        views=known.views,
        parts=parts,
        tracks_px=_tracks(frames, known, signals, (clip.height_px, clip.width_px), size),
        settings=settings.following,
        unprojection=settings.unprojection,
    )
    min_frames = min(settings.min_frames, len(frames))
    tracks = [track for track in follower.follow() if len(track.seen) >= min_frames]
    if not tracks:
        return None
    return _signal(frames, found, tracks, parts, known, names, settings, provenance, checked)


def _known(frames: Int64[np.ndarray, "n"], size: tuple[int, int], signals: Signals, settings: ObjectSettings) -> _Known:
    depth, path = signals.get("depth"), signals.get("camera_path")
    if not isinstance(path, CameraPath) or path.motion == "unresolved":
        return _Known(path=None, views=[None] * len(frames), up_world=None, tilt_sigma_rad=0.0)
    up, sigma = _up(signals.get("gravity"), path, settings.up_disagreement_rad)
    views: list[View | None] = [None] * len(frames)
    if isinstance(depth, Depth) and depth.scale.kind != "per_frame":
        views = views_of(frames, size, depth, path, settings.unprojection)
    return _Known(path=path, views=views, up_world=up, tilt_sigma_rad=sigma)


def _tracks(
    frames: Int64[np.ndarray, "n"], known: _Known, signals: Signals, shape: tuple[int, int], size: tuple[int, int]
) -> Float64[np.ndarray, "t n 2"] | None:
    """Image tracks in pixels of the masks; triangulated points too, where no depth tells what moved."""
    image_tracks, points = signals.get("image_tracks"), signals.get("sparse_points")
    found = [tracks_at(image_tracks, frames, shape, size)] if isinstance(image_tracks, ImageTracks) else []
    if isinstance(points, SparsePoints) and known.path is not None and all(view is None for view in known.views):
        found.append(tracks_at(observed(points, frames), frames, shape, size))
    known_tracks = [tracks for tracks in found if tracks is not None]
    return np.concatenate(known_tracks) if known_tracks else None


def _parts(
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    known: _Known,
    signals: Signals,
    shape: tuple[int, int],
    settings: ObjectSettings,
) -> list[list[MaskPoints | None]]:
    """The surface of each detection of each frame: of masks by depth, of boxes only where their middle agrees, and
    triangulated points where there is no depth."""
    points = signals.get("sparse_points")
    sparse = points if isinstance(points, SparsePoints) and known.path is not None else None
    out: list[list[MaskPoints | None]] = []
    for frame, one, view in zip(frames.tolist(), found, known.views, strict=True):
        row: list[MaskPoints | None] = []
        for k in range(len(one.detections.scores)):
            mask = one.ids == k
            if view is None:
                row.append(
                    None
                    if sparse is None or known.path is None
                    else points_inside(sparse, known.path, frame, mask, one.is_box(k), shape, settings.rough)
                )
            elif one.is_box(k):
                row.append(central_points(mask, view, settings.rough))
            else:
                others = (one.ids >= 0) & ~mask
                row.append(unprojected(mask, view, settings.unprojection, others).at_most(settings.box.points))
        out.append(row)
    return out


def _signal(
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    tracks: Sequence[Track],
    parts: Sequence[Sequence[MaskPoints | None]],
    known: _Known,
    names: Sequence[str],
    settings: ObjectSettings,
    provenance: Provenance,
    checked: Collection[str],
) -> Objects:
    count = len(tracks)
    score = np.full((len(frames), count), np.nan, dtype=np.float32)
    box_px = np.full((len(frames), count, 2, 2), np.nan)
    pose, size = np.full((count, 4, 4), np.nan), np.full((count, 3), np.nan)
    centre_sigma, size_sigma = np.full(count, np.nan), np.full((count, 3), np.nan)
    outlier, name_outlier = np.zeros(count), np.zeros(count)
    for k, track in enumerate(tracks):
        for n, d in track.seen.items():
            score[n, k] = found[n].detections.scores[d]
            if found[n].is_box(d):
                box_px[n, k] = found[n].detections.boxes_px[d].reshape(2, 2)
        box = _box(track, found, parts, known, settings)
        if box is not None:
            pose[k], size[k] = box.world_from_object, box.size
            centre_sigma[k], size_sigma[k] = box.centre_sigma, box.size_sigma
        elif known.path is not None and (  # of boxes, the frames' own places say whether it moves
            not track.moved or all(found[n].is_box(d) for n, d in track.seen.items())
        ):
            place = rough_place(track, frames, found, parts, known.path, settings.rough)
            if place is not None:
                pose[k, :3, 3], centre_sigma[k] = place
                pose[k, 3], size_sigma[k] = [0, 0, 0, 1], np.inf
        outlier[k] = outlier_probability(
            track, frames, found, parts, known.views, known.path, box, pose[k, :3, 3], settings.confirmation,
            checked="*" in checked or kind_of(names[track.label]) in {kind_of(name) for name in checked},
        )  # fmt: skip
        name_outlier[k] = name_outlier_probability(score[:, k], settings.confirmation)
    return Objects(
        frames=frames,
        labels=tuple(names[track.label] for track in tracks),
        ids=_of_masks(numbered(tracks, found), found),
        world_from_object=np.tile(pose, (len(frames), 1, 1, 1)),
        size=size,
        centre_sigma=centre_sigma,
        size_sigma=size_sigma,
        box_px=box_px if np.isfinite(box_px).any() else None,
        score=score,
        outlier_probability=outlier,
        name_outlier_probability=name_outlier,
        provenance=provenance,
    )


def _of_masks(ids: np.ndarray, found: Sequence[SegmentedFrame]) -> np.ndarray:
    """Without the pixels of boxes: nobody has said which of them show the object."""
    for n, one in enumerate(found):
        if one.box_only is not None:
            ids[n][np.isin(one.ids, np.flatnonzero(one.box_only))] = -1
    return ids


def _box(
    track: Track,
    found: Sequence[SegmentedFrame],
    parts: Sequence[Sequence[MaskPoints | None]],
    known: _Known,
    settings: ObjectSettings,
) -> ObjectBox | None:
    """None for objects that move, are too small, or are hardly visible."""
    pairs = [
        (part, view)
        for part, view in (
            (parts[n][d], known.views[n]) for n, d in sorted(track.seen.items()) if not found[n].is_box(d)
        )
        if part is not None and view is not None and len(part)
    ]
    if track.moved or not pairs or known.path is None:
        return None
    surface, cameras = [part for part, _ in pairs], [view for _, view in pairs]
    unseen = [view for n, view in enumerate(known.views) if view is not None and n not in track.seen]
    if not is_static(surface, cameras, settings.box, settings.unprojection, unseen):
        return None
    return fitted(
        surface, cameras, known.up_world, settings.box,
        focal_relative_sigma=known.path.focal_relative_sigma, tilt_sigma_rad=known.tilt_sigma_rad,
    )  # fmt: skip


def _up(
    gravity: Signal | NoEstimate | None, path: CameraPath, max_rad: float
) -> tuple[Float64[np.ndarray, "3"] | None, float]:
    """The up direction in the world and its σ per axis; None if it is unknown or the frames disagree."""
    if not isinstance(gravity, Gravity):
        return None, 0.0
    _, a, b = np.intersect1d(gravity.frames, path.frames, return_indices=True)
    up = np.einsum("nij,nj->ni", path.world_from_cam[b, :3, :3], gravity.up_cam[a])
    known = np.isfinite(up).all(axis=1) & path.registered[b]
    if not known.any():
        return None, 0.0
    mean = up[known].mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-12)
    disagreement = float(np.sqrt(np.mean(np.arccos(np.clip(up[known] @ mean, -1, 1)) ** 2)))
    sigma = float(np.median(gravity.sigma_rad[a][known]))
    return (mean, sigma) if max(disagreement, sigma) <= max_rad else (None, 0.0)
