"""Motion of the background in the picture without a camera path: one homography per frame.

The background moves by homographies if the camera rotates, zooms, sees a plane, or translates too little for parallax.
They are fitted to all tracks, so a moving object that fills the picture would be taken for the background. Hence the
background must explain most tracks of every frame, and those around the edges of the picture.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from experts.matching.frame_pairs import find_homography
from experts.signals import ImageTracks, NoEstimate
from experts.tracking.moving_tracks import evenly_spaced
from experts.tracking.static_fit import REFERENCE_WIDTH_PX, Observations, StaticFit, fit_consensus

_REASON = "no background"


@dataclass(frozen=True, kw_only=True)
class BackgroundSettings:
    """Thresholds; "px" refer to a picture of 640 px width."""

    inlier_px: float = 2.0
    """RANSAC threshold of a homography."""
    explained_px: float = 1.5
    """Largest residual of a point of the background, once the homographies are fitted to all frames."""
    min_tracks: int = 30
    """Smallest number of tracks that two frames share; the earlier frame is replaced before."""
    min_survival: float = 0.5
    """It is also replaced when fewer of its tracks survive."""
    frames: int = 8
    """Shorter tracks are not judged."""
    rounds: int = 3
    """Alternations between homographies and points ..."""
    fitted_tracks: int = 600
    """... of at most this many tracks, the longest of every part of the clip."""
    explained_share: float = 0.6
    """In every frame the background explains at least this share of the judged tracks, ..."""
    grid: tuple[int, int] = (8, 6)
    """... of cells across and down, whose outer ones are the edges of the picture ..."""
    edge_share: float = 0.77
    """... and most tracks of at least this share of the outer cells that have tracks (rendered rooms: at most 0.76 with
    a foreground that the camera carries, 0.78 and more with animals before a camera that pans or sways) ..."""
    edge_exceptions: float = 0.1
    """... in all but this share of the samples."""
    edge_cells: int = 8
    """Smallest number of outer cells with tracks, and ..."""
    sides: int = 3
    """... of the four sides that have one."""
    radius_px: float = 70.0
    """Moving tracks within this distance belong to one object."""
    around_px: float = 200.0
    """An object moves only if the background is seen within this distance of it on all four sides: a static object near
    a translating camera departs from the background too, but so does the floor on which it stands."""
    around_tracks: int = 2
    """Smallest number of tracks of the background on each side."""
    around_share: float = 0.7
    """Smallest share of a track's samples in which this holds."""
    samples: int = 30
    """Number of evenly spaced frames that are looked at."""


def background_of(
    tracks: ImageTracks, width_px: int, height_px: int, settings: BackgroundSettings
) -> tuple[Observations, StaticFit] | NoEstimate:
    """The tracks in homogeneous pixels, with the homography of each frame in place of a camera's rotation, and the
    background's point of each track."""
    u = (tracks.xy_px.astype(np.float64) - [width_px / 2, height_px / 2]) / width_px
    homographies = _chained(u, settings)
    if homographies is None:
        return NoEstimate(reason=_REASON, detail="too few tracks survive from frame to frame")
    s = Observations(
        u=u,
        cam_from_world=homographies,
        centre=np.zeros((u.shape[1], 3)),
        focal_px=REFERENCE_WIDTH_PX,
        rotation_only=True,
    )
    for _ in range(settings.rounds):
        chosen = s.of(_evenly_chosen(s.seen, settings))
        s = replace(s, cam_from_world=_refitted(chosen, fit_consensus(chosen, settings.explained_px), settings))
    fit = fit_consensus(s, settings.explained_px)
    fits = np.nan_to_num(fit.residual_px, nan=np.inf) < settings.explained_px
    judged = s.seen & (s.seen.sum(axis=1) >= settings.frames)[:, None]
    shares = (fits & judged).sum(axis=0) / np.maximum(judged.sum(axis=0), 1)
    if shares.min() < settings.explained_share:
        return NoEstimate(reason=_REASON, detail=f"one homography explains only {shares.min():.2f} of a frame's tracks")
    each = [
        _edge_share(s.u[judged[:, n], n], fits[judged[:, n], n], height_px / width_px, settings)
        for n in evenly_spaced(s.u.shape[1], settings.samples)
    ]
    edges = float(np.quantile(each, settings.edge_exceptions))
    if edges < settings.edge_share:
        return NoEstimate(reason=_REASON, detail=f"it explains only {edges:.2f} of the edges of a frame")
    return s, fit


def _chained(u: Float64[np.ndarray, "t n 2"], settings: BackgroundSettings) -> Float64[np.ndarray, "n 3 3"] | None:
    """Homographies from the first frame, each by way of an earlier frame with enough common tracks."""
    seen, count = np.isfinite(u[..., 0]), u.shape[1]
    found, anchor = np.tile(np.eye(3), (count, 1, 1)), 0
    scale = np.diag([REFERENCE_WIDTH_PX, REFERENCE_WIDTH_PX, 1.0])
    for n in range(1, count):
        both = seen[:, anchor] & seen[:, n]
        if both.sum() < max(settings.min_tracks, settings.min_survival * seen[:, anchor].sum()):
            anchor = n - 1
            both = seen[:, anchor] & seen[:, n]
        if both.sum() < settings.min_tracks:
            return None
        pixels = u[both] * REFERENCE_WIDTH_PX
        homography = find_homography(pixels[:, anchor], pixels[:, n], settings.inlier_px, confidence=0.999)
        if homography is None:
            return None
        found[n] = _unit(np.linalg.solve(scale, homography[0] @ scale) @ found[anchor])
    return found


def _evenly_chosen(seen: Bool[np.ndarray, "t n"], settings: BackgroundSettings) -> Int64[np.ndarray, "k"]:
    """Rows of long tracks: of those that start one after another, the longest each."""
    length = seen.sum(axis=1)
    long = np.flatnonzero(length >= settings.frames)
    by_start = long[np.argsort(np.argmax(seen[long], axis=1), kind="stable")]
    parts = np.array_split(by_start, min(settings.fitted_tracks, max(1, len(by_start))))
    return np.array([part[np.argmax(length[part])] for part in parts if len(part)], dtype=np.int64)


def _unit(homography: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3 3"]:
    return homography / np.cbrt(np.linalg.det(homography))


def _refitted(s: Observations, fit: StaticFit, settings: BackgroundSettings) -> Float64[np.ndarray, "n 3 3"]:
    """Homographies that map the points of all long tracks to their pixels: weighted linear least squares."""
    found = s.cam_from_world.copy()
    long = np.isfinite(fit.xyz_world).all(axis=1)
    for n in range(len(found)):
        rows = np.flatnonzero(long & s.seen[:, n])
        if len(rows) < settings.min_tracks:
            continue
        point, u = fit.xyz_world[rows], s.u[rows, n]
        weight = 1 / (1 + (fit.residual_px[rows, n] / settings.explained_px) ** 2) / np.abs(fit.z[rows, n])
        zero = np.zeros_like(point)
        x = np.concatenate([point, zero, -u[:, :1] * point], axis=1) * weight[:, None]
        y = np.concatenate([zero, point, -u[:, 1:] * point], axis=1) * weight[:, None]
        found[n] = _unit(np.linalg.svd(np.concatenate([x, y]), full_matrices=False)[2][-1].reshape(3, 3))
    return found


def _edge_share(
    u: Float64[np.ndarray, "k 2"], fits: Bool[np.ndarray, "k"], height: float, settings: BackgroundSettings
) -> float:
    """Share of the outer cells with tracks in which most of them belong to the background; 0 with too few such
    cells."""
    across, down = settings.grid
    cell = np.clip(np.floor((u / [1, height] + 0.5) * settings.grid).astype(int), 0, [across - 1, down - 1])
    outer = (cell == 0) | (cell == [across - 1, down - 1])
    sides = int((outer & (cell == 0)).any(axis=0).sum() + (outer & (cell > 0)).any(axis=0).sum())
    edge = outer.any(axis=1)
    cells, row = np.unique(cell[edge] @ [1, across], return_inverse=True)
    if len(cells) < settings.edge_cells or sides < settings.sides:
        return 0.0
    return float(np.mean(np.bincount(row, weights=fits[edge]) > np.bincount(row) / 2))


def surrounded_by_background(
    s: Observations, static: Bool[np.ndarray, "t"], moving: Bool[np.ndarray, "t"], settings: BackgroundSettings
) -> Bool[np.ndarray, "t"]:
    """Moving tracks of objects that have static tracks near them on all four sides of the picture."""
    good, total = np.zeros(len(moving)), np.zeros(len(moving))
    for n in evenly_spaced(s.u.shape[1], settings.samples):
        here, there = np.flatnonzero(moving & s.seen[:, n]), np.flatnonzero(static & s.seen[:, n])
        total[here] += 1
        if not len(here):
            continue
        at, behind = s.u[here, n] * s.focal_px, s.u[there, n] * s.focal_px
        near = cKDTree(at).query_pairs(settings.radius_px, output_type="ndarray")
        graph = coo_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(here), len(here)))
        objects = connected_components(graph, directed=False)[1]
        for k in np.unique(objects):
            good[here[objects == k]] += _has_all_sides(at[objects == k], behind, settings)
    return np.asarray(moving & (good >= settings.around_share * np.maximum(total, 1)))


def _has_all_sides(
    own: Float64[np.ndarray, "k 2"], others: Float64[np.ndarray, "m 2"], settings: BackgroundSettings
) -> bool:
    """Whether enough of the other points are near the bounding box on its left, right, upper and lower side."""
    low, high = own.min(axis=0), own.max(axis=0)
    for axis in (0, 1):
        across = 1 - axis
        margin = settings.around_px / 2
        beside = (others[:, across] > low[across] - margin) & (others[:, across] < high[across] + margin)
        for gap in (low[axis] - others[:, axis], others[:, axis] - high[axis]):
            if (beside & (gap > 0) & (gap < settings.around_px)).sum() < settings.around_tracks:
                return False
    return True
