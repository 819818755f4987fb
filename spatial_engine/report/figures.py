"""Figures of the clip pages: camera paths from above and from the side, tracks, the horizon."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64
from markupsafe import Markup

from experts.signals import PointTracks
from spatial_engine.report.chart import ACCENT, AMBER, CARD, SOFT, chart
from templates.scene.scene import Scene, find_rows

_ARROWS = 14
"""Viewing directions drawn along a path."""
_POINTS = 900
_TRACKS = 160
_TRAIL = 12
"""Sampled frames of a track before and after the one it is drawn on."""
KINDS = {1: "moving", 0: "static", -1: "unknown"}
"""Words for `PointTracks.motion`."""

XY = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class View:
    """A path projected to a plane, in the units of the scene; the start is the origin, y points up on the page."""

    title: str
    path: Float64[np.ndarray, "n 2"]
    looks: Float64[np.ndarray, "n 2"]
    """Where the camera looks: unit vectors, shorter the more they point out of the plane."""
    points: Float64[np.ndarray, "p 2"]
    """Static points inside the limits, for orientation."""
    limits: Float64[np.ndarray, "2 2"]
    """Lower left and upper right corner of what is shown."""
    metric: bool

    def svg(self) -> Markup:
        """The chart of the page: path, viewing directions, static points."""
        with chart(460, 440) as drawn:
            axes = drawn.axes(aspect="equal")
            axes.set(xlim=self.limits[:, 0], ylim=self.limits[:, 1])
            axes.locator_params(nbins=5)
            if self.metric:
                axes.set_xlabel("metres")
            else:
                axes.tick_params(labelbottom=False, labelleft=False)
                axes.set_xlabel("no scale: lengths are relative")
            if len(self.points):
                axes.plot(*self.points.T, ".", color=SOFT, alpha=0.45, markersize=2, gid="static-points")
            rows = np.unique(np.linspace(0, len(self.path) - 1, _ARROWS).round().astype(int))
            axes.quiver(
                *self.path[rows].T, *self.looks[rows].T, color=AMBER, scale=14, width=0.007, headwidth=5, zorder=3
            )
            axes.plot(*self.path.T, color=ACCENT, linewidth=2.2, solid_joinstyle="round")
            start, end = self.path[0], self.path[-1]
            axes.plot(*start, "o", markersize=9, markerfacecolor=CARD, markeredgecolor=ACCENT, markeredgewidth=2)
            axes.plot(*end, "o", markersize=8, color=ACCENT)
            return drawn.svg(f"Camera path {self.title.lower()}")


@dataclass(frozen=True, kw_only=True)
class Trail:
    """A track around one frame, in pixels of the full-size frame."""

    kind: str
    """One of `KINDS`."""
    xy_px: tuple[XY, ...]
    end: XY
    """Where it is in the frame it is drawn on."""


def camera_views(scene: Scene) -> tuple[View, ...]:
    """The path from above and from the side; empty unless positions are known."""
    path = scene.path
    if path is None or path.motion != "general":
        return ()
    at = path.registered & np.isfinite(path.world_from_cam).all(axis=(1, 2))
    if at.sum() < 2:
        return ()
    poses = path.world_from_cam[at]
    axes = _axes(scene, poses[0])
    centre = poses[0, :3, 3]
    points = np.empty((0, 3)) if scene.points is None else scene.points.xyz_world
    step = max(1, len(points) // _POINTS)
    positions, spots = (poses[:, :3, 3] - centre) @ axes.T, (points[::step] - centre) @ axes.T
    looks = poses[:, :3, 2] @ axes.T
    metric = path.scale.kind == "metric"
    return (
        _view("From above", positions, looks, spots, [0, 1], metric),
        _view("From the side", positions, looks, spots, [1, 2], metric),
    )


def _axes(scene: Scene, world_from_first: Float64[np.ndarray, "4 4"]) -> Float64[np.ndarray, "3 3"]:
    """Rows right, forward, up: levelled where up is known, else those of the first camera."""
    down, forward = world_from_first[:3, 1], world_from_first[:3, 2]
    up = -down if scene.up_world is None else scene.up_world
    level = forward - (forward @ up) * up
    if np.linalg.norm(level) < 0.1:  # looks straight up or down: its image-up shows the way
        level = -down - (-down @ up) * up
    ahead = level / np.linalg.norm(level)
    return np.stack([np.cross(ahead, up), ahead, up])


def _view(
    title: str,
    positions: Float64[np.ndarray, "n 3"],
    looks: Float64[np.ndarray, "n 3"],
    points: Float64[np.ndarray, "p 3"],
    plane: list[int],
    metric: bool,
) -> View:
    path, spots = positions[:, plane], points[:, plane]
    limits = _limits(path, spots, most=4.0 * float(np.ptp(positions, axis=0).max()))
    inside = ((spots > limits[0]) & (spots < limits[1])).all(axis=1)
    return View(
        title=title, path=path, looks=looks[:, plane], points=spots[inside], limits=limits, metric=metric
    )  # fmt: skip


def _limits(
    path: Float64[np.ndarray, "n 2"], points: Float64[np.ndarray, "p 2"], most: float
) -> Float64[np.ndarray, "2 2"]:
    """A square around the path, and around most static points where these do not make it wider than `most`."""
    low, high = path.min(axis=0), path.max(axis=0)
    if len(points):
        near, far = np.percentile(points, [10, 90], axis=0)
        wide = np.minimum(low, near), np.maximum(high, far)
        if np.max(wide[1] - wide[0]) <= most:
            low, high = wide
    reach = 0.65 * max(float(np.max(high - low)), 1e-9)
    return (low + high) / 2 + np.array([[-reach], [reach]])


def horizon(scene: Scene, frame: int) -> tuple[XY, XY] | None:
    """The horizon across a frame, in pixels: left and right end at the frame's circumscribed width. None if unknown.

    Without distortion: the line up · ray = 0.
    """
    up, _ = scene.up_cam(frame)
    if scene.path is None or not np.isfinite(up).all():
        return None
    camera = scene.path.intrinsics
    normal = np.array([up[0] / camera.fx_px, up[1] / camera.fy_px])
    if np.linalg.norm(normal) < 1e-9:
        return None
    centre = np.array([camera.cx_px, camera.cy_px])
    foot = centre - normal * up[2] / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    reach = 2.0 * np.hypot(camera.width_px, camera.height_px)
    if np.linalg.norm(foot - centre) > reach:
        return None
    start, end = _pairs(np.stack([foot - reach * along, foot + reach * along]))
    return start, end


def trails(tracks: PointTracks, frame: int) -> tuple[Trail, ...]:
    """Tracks that are seen in a frame, with where they came from and go to; moving ones are never thinned out."""
    row = int(find_rows(tracks.frames, [frame])[0])
    if row < 0:
        return ()
    here = np.flatnonzero(tracks.visible[:, row] & np.isfinite(tracks.xy_px[:, row]).all(axis=1))
    chosen = _thinned(here, tracks.motion[here] == 1)
    around = slice(max(0, row - _TRAIL), row + _TRAIL + 1)
    found = []
    for track in chosen:
        xy = tracks.xy_px[track, around]
        line = _pairs(xy[np.isfinite(xy).all(axis=1)])
        end = _pairs(tracks.xy_px[track, row : row + 1])[0]
        found.append(Trail(kind=KINDS[int(tracks.motion[track])], xy_px=line, end=end))
    return tuple(found)


def _thinned(rows: np.ndarray, keep: Bool[np.ndarray, "k"]) -> np.ndarray:
    others = rows[~keep]
    step = max(1, len(others) // _TRACKS)
    return np.sort(np.concatenate([rows[keep], others[::step]]))


def _pairs(xy: Sequence[XY] | Float64[np.ndarray, "n 2"]) -> tuple[XY, ...]:
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in xy)
