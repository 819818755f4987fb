"""Kind of camera motion before any reconstruction: static, with parallax, or undecided."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64

from experts.mapping.colmap_features import MatchedPair
from experts.matching.frame_pairs import epipolar_inliers, find_homography


@dataclass(frozen=True, kw_only=True)
class MotionSettings:
    """Pixels are those of the working size."""

    static_px: float = 1.0
    """A point is static if it moves less (on static renders the displacement is 0.0)."""
    static_samples: int = 16
    """Evenly spaced frames that are compared with each other."""
    grid: tuple[int, int] = (8, 6)
    """Cells across and down: cells are counted, so that textured areas do not dominate."""
    static_cells: float = 0.5
    """Two frames agree if at least this share of the cells is static: objects may move in front. They also agree ..."""
    static_followed: float = 0.45
    """... at this share of the cells whose points are followed (a person who fills the picture leaves 0.50; a
    foreground that the camera carries, 0.37 in rendered rooms) ..."""
    static_blocks: int = 5
    """... if static cells lie in at least this many of nine blocks of the picture, and on each of its sides that has
    followed points: what the camera carries is on one side."""
    static_frames: float = 0.5
    """A clip is static if every sampled frame agrees with at least this share of the others."""
    inlier_px: float = 2.0
    """RANSAC threshold of homographies and fundamental matrices, in pictures of `inlier_side_px` or more ..."""
    inlier_side_px: float = 640.0
    """... and proportionally less in smaller ones, where parallax is smaller too."""
    min_matches: int = 30
    """Smallest number of matches of a pair."""
    steps: tuple[int, ...] = (1, 2, 3, 5, 8, 13)
    """Distances, in keyframes, of the pairs."""
    homography_share: float = 0.94
    """A homography that explains more than this share of F's inliers means a plane, weak parallax or rotation (median
    of a clip: 0.33 to 0.61 on 7-Scenes, 0.99 to 1.0 on weak parallax; rendered rooms without moving objects 0.97 to
    0.99 with a rotating camera, 0.84 to 0.93 when it walks up to a furnished wall)."""


@dataclass(frozen=True, kw_only=True)
class PairGeometry:
    """Two-view geometry of one pair of keyframes."""

    pair: MatchedPair
    homography: Float64[np.ndarray, "3 3"]
    """Maps working pixels of the first keyframe to the second."""
    inlier: Bool[np.ndarray, "m"]
    """Matches that agree with the homography."""
    epipolar: Bool[np.ndarray, "m"]
    """Matches that agree with the fundamental matrix."""
    share: float
    """Inliers of the homography over those of the fundamental matrix, at most 1."""


def is_static(xy_px: Float32[np.ndarray, "t n 2"], width_px: int, height_px: int, settings: MotionSettings) -> bool:
    """Whether the camera is static, from tracks at working size. Moving objects may cover half the cells."""
    columns = np.unique(np.linspace(0, xy_px.shape[1] - 1, settings.static_samples).round().astype(int))
    agree = np.array(
        [[_agree(xy_px[:, a], xy_px[:, b], width_px, height_px, settings) for b in columns] for a in columns]
    )
    others = (agree.sum(axis=1) - 1) / (len(columns) - 1)
    return bool(np.all(agree.diagonal()) and np.all(others >= settings.static_frames))


def _agree(
    a: Float32[np.ndarray, "t 2"], b: Float32[np.ndarray, "t 2"], width_px: int, height_px: int, s: MotionSettings
) -> bool:
    """Whether enough cells with points in `a` have points at the same pixel in `b`."""
    with np.errstate(invalid="ignore"):
        shift = np.linalg.norm(b - a, axis=-1)
    seen, followed, static = np.isfinite(a[:, 0]), np.isfinite(shift), shift < s.static_px
    cell = np.floor(np.nan_to_num(a) / [width_px, height_px] * s.grid).astype(int)
    count = [len(np.unique(cell[which], axis=0)) for which in (seen, followed, static)]
    if count[2] >= max(1.0, s.static_cells * count[0]):
        return True
    block = cell * 3 // s.grid
    sides = [block[:, axis] == end for axis in (0, 1) for end in (0, 2)]
    spread = all((side & static).any() for side in sides if (side & followed).any())
    spread &= len(np.unique(block[static], axis=0)) >= s.static_blocks
    return spread and count[2] >= s.static_followed * count[1]


def pair_geometries(pairs: Sequence[MatchedPair], side_px: int, settings: MotionSettings) -> list[PairGeometry]:
    """Homography and fundamental matrix of keyframe pairs at several distances. `side_px`: the longer side."""
    within = settings.inlier_px * min(1.0, side_px / settings.inlier_side_px)
    found = []
    for pair in pairs:
        if pair.second - pair.first not in settings.steps or len(pair.xy_first) < settings.min_matches:
            continue
        plane = find_homography(pair.xy_first, pair.xy_second, within)
        epipolar = epipolar_inliers(pair.xy_first, pair.xy_second, within)
        if plane is None or epipolar is None or plane[1].sum() < settings.min_matches / 2:
            continue
        homography, inlier = plane
        share = min(1.0, float(inlier.sum() / max(1, epipolar.sum())))
        found.append(PairGeometry(pair=pair, homography=homography, inlier=inlier, epipolar=epipolar, share=share))
    return found


def shows_parallax(pairs: Sequence[PairGeometry], settings: MotionSettings) -> bool:
    """Whether one homography does not explain most pairs: the camera translates through a scene with depth."""
    return bool(pairs) and float(np.median([p.share for p in pairs])) <= settings.homography_share
