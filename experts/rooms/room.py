"""The floor, walls and free floor of a room, from dense depth or sparse points.

Points of all frames are fused in the world of the camera path. The floor is the lowest large plane that gravity says is
level; walls are upright planes above which nothing else is seen (`walls`); the outline surrounds the floor that is seen
into, and names the sides on which no wall was seen. Weak points: built-in cupboards up to the ceiling count as walls;
walls are straight and upright; a mirror or a window that is as high and wide as its wall counts as an opening.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.rooms.doorways import DoorwaySettings, doorways_of
from experts.rooms.free_floor import FloorSettings, cells_of
from experts.rooms.levels import Level, LevelSettings, UprightSettings, lowest_level, refined_up
from experts.rooms.outline import OutlineSettings, outline_of
from experts.rooms.surfaces import Surfaces, SurfaceSettings, from_depth, from_points
from experts.rooms.walls import Wall, WallSettings, walls_of
from experts.signals import CameraPath, Depth, Gravity, NoEstimate, Room, Signal, Signals, SparsePoints


@dataclass(frozen=True, kw_only=True)
class RoomSettings:
    """Chosen; measured on rendered rooms (docs/experts.md)."""

    unit_m: float = 1.4
    """Unit of the thresholds, where metres are known; else the height of the camera above the floor."""
    first_unit: float = 0.45
    """Before the floor is found: this share of the median distance of what is seen."""
    farthest: float = 30.0
    """What is farther from the camera is not used, in units (42 m)."""
    cell: float = 0.04
    """Side of the cubes in which one point stands for a surface, in units (6 cm)."""
    max_gravity_sigma_rad: float = float(np.deg2rad(4.0))
    """Largest σ of up."""
    surface: SurfaceSettings = field(default_factory=SurfaceSettings)
    upright: UprightSettings = field(default_factory=UprightSettings)
    level: LevelSettings = field(default_factory=LevelSettings)
    wall: WallSettings = field(default_factory=WallSettings)
    outline: OutlineSettings = field(default_factory=OutlineSettings)
    floor: FloorSettings = field(default_factory=FloorSettings)
    doorway: DoorwaySettings = field(default_factory=DoorwaySettings)


class RoomExpert(WeightFreeExpert):
    """Expert "room": provides "room"."""

    name: ClassVar[str] = "room"
    version: ClassVar[str] = "2"
    provides: ClassVar[frozenset[str]] = frozenset({"room"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "gravity"})
    may_use: ClassVar[frozenset[str]] = frozenset({"depth", "sparse_points"})
    joins: ClassVar[bool] = True
    options: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, settings: RoomSettings | None = None) -> None:
        self.settings = settings or RoomSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"room": Room}`; `NoEstimate` if no floor is found."""
        return {"room": self._room(signals)}

    def _room(self, signals: Signals) -> Room | NoEstimate:
        path, gravity = signals.get("camera_path"), signals.get("gravity")
        if not isinstance(path, CameraPath) or path.motion == "unresolved":
            return NoEstimate(reason="there is no camera path")
        up = _up(path, gravity) if isinstance(gravity, Gravity) else None
        if up is None:
            return NoEstimate(reason="up is not known", remedy="give --upright, or add geocalib to --experts")
        if up.sigma_rad > self.settings.max_gravity_sigma_rad:
            return NoEstimate(reason="up is too uncertain", detail=f"σ {np.rad2deg(up.sigma_rad):.1f}°")
        seen = self._surfaces(signals, path)
        if len(seen) < self.settings.level.points:
            return NoEstimate(
                reason="there is neither depth nor enough sparse points",
                detail=f"{len(seen)} points",
                remedy="add depth_anything_3 to --experts",
            )
        away = np.linalg.norm(seen.xyz - seen.camera, axis=1)
        unit = self.settings.unit_m
        if path.scale.kind != "metric":
            unit = self.settings.first_unit * float(np.median(away))
        seen = seen.of(away <= self.settings.farthest * unit)
        cell = self.settings.cell * unit
        if len(seen) < self.settings.level.points:
            return NoEstimate(reason="what is seen is too far away for a room")
        thin = (seen.of(seen.is_plane) if seen.is_plane.any() else seen).thinned(cell)
        up_world, tilt = refined_up(thin, up.world, up.sigma_rad, self.settings.upright)
        levelled = _axes(up_world, path)
        floor = lowest_level(thin.moved(np.linalg.inv(levelled)), cell, unit, tilt, self.settings.level)
        if isinstance(floor, NoEstimate):
            return floor
        into = np.linalg.inv(levelled @ _on_level(floor))
        return self._furnish(seen.moved(into), thin.moved(into), cell, floor, levelled @ _on_level(floor), path)

    def _surfaces(self, signals: Signals, path: CameraPath) -> Surfaces:
        """Of the depth, if it is in the unit of the path; else of the sparse points."""
        depth, points = signals.get("depth"), signals.get("sparse_points")
        if isinstance(depth, Depth) and depth.scale.kind != "per_frame":
            return from_depth(depth, path, self.settings.surface)
        if isinstance(points, SparsePoints):
            return from_points(points, path, self.settings.surface)
        return Surfaces.none()

    def _furnish(
        self,
        seen: Surfaces,
        thin: Surfaces,
        cell: float,
        floor: Level,
        world_from_floor: Float64[np.ndarray, "4 4"],
        path: CameraPath,
    ) -> Room:
        """The room around the floor: all points, and one in each cube of side `cell`, with the floor at z = 0."""
        s, heights = self.settings, seen.camera[:, 2]
        unit = s.unit_m if path.scale.kind == "metric" else float(np.median(heights))
        ceiling = lowest_level(thin.moved(np.diag([1.0, -1, -1, 1])), cell, unit, 0.0, s.level)
        height = -ceiling.middle[2] if isinstance(ceiling, Level) else np.nan
        height = height if height > heights.max() else np.nan
        walls = walls_of(seen, thin, cell, unit, height, s.wall)
        if walls:
            turn = _turned(walls[0])
            world_from_floor, seen = world_from_floor @ turn, seen.moved(turn.T)
            walls = [replace(wall, normal=turn[:2, :2].T @ wall.normal) for wall in walls]
        walls = [self._with_path(wall, seen, path) for wall in walls]
        outline = outline_of(seen, walls, unit, s.outline)
        cells, start = cells_of(seen, walls, unit, s.floor)
        return Room(
            world_from_floor=world_from_floor,
            floor_sigma=float(np.hypot(floor.sigma, _position_sigma(path))),
            outline=outline.corners if outline else np.zeros((0, 2)),
            wall_sigma=outline.sigma if outline else np.zeros(0),
            height=float(height),
            height_sigma=_height_sigma(floor, ceiling, height),
            doorways=doorways_of(seen, outline, walls, unit, s.doorway),
            cells=cells,
            cell=s.floor.cell * unit,
            cells_from=start,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(s), seed=0),
        )

    def _with_path(self, wall: Wall, seen: Surfaces, path: CameraPath) -> Wall:
        """σ of the camera's position, rotation and focal length added."""
        on = np.abs(seen.xyz[:, :2] @ wall.normal - wall.offset) <= wall.column
        away = float(np.median(np.linalg.norm((seen.xyz - seen.camera)[on, :2], axis=1))) if on.any() else 0.0
        turn = np.hypot(_median(path.rotation_sigma_rad), path.focal_relative_sigma)
        sigma = float(np.sqrt(wall.sigma**2 + _position_sigma(path) ** 2 + (turn * away) ** 2))
        return replace(wall, sigma=sigma, angle_sigma_rad=float(np.hypot(wall.angle_sigma_rad, turn)))


@dataclass(frozen=True, kw_only=True)
class _Up:
    world: Float64[np.ndarray, "3"]
    sigma_rad: float


def _up(path: CameraPath, gravity: Gravity) -> _Up | None:
    """Up in the world: the median of the frames with rotation and gravity."""
    _, row, at = np.intersect1d(gravity.frames, path.frames, return_indices=True)
    ups = np.einsum("nij,nj->ni", path.world_from_cam[at, :3, :3], gravity.up_cam[row])
    known = np.isfinite(ups).all(axis=1)
    if not known.any():
        return None
    up = np.median(ups[known], axis=0)
    spread = float(np.median(np.linalg.norm(ups[known] - up, axis=1))) / np.sqrt(known.sum())
    sigma = float(np.hypot(np.median(gravity.sigma_rad[row][known]), spread))
    return _Up(world=up / np.linalg.norm(up), sigma_rad=max(sigma, 1e-6))


def _axes(up: Float64[np.ndarray, "3"], path: CameraPath) -> Float64[np.ndarray, "4 4"]:
    """World from axes with z up, whose x is to the right of the first camera."""
    poses = path.world_from_cam[path.registered & np.isfinite(path.world_from_cam[:, :3, :3]).all(axis=(1, 2))]
    right = poses[0, :3, 0] - (poses[0, :3, 0] @ up) * up
    if np.linalg.norm(right) < 0.1:
        right = poses[0, :3, 1] - (poses[0, :3, 1] @ up) * up
    right /= np.linalg.norm(right)
    out = np.eye(4)
    out[:3, :3] = np.stack([right, np.cross(up, right), up], axis=1)
    return out


def _on_level(level: Level) -> Float64[np.ndarray, "4 4"]:
    """Levelled axes from those of the floor: origin at the middle of its points, z along its normal."""
    z = level.normal
    x = np.array([1.0, 0, 0]) - z[0] * z
    x /= np.linalg.norm(x)
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), level.middle
    return out


def _turned(wall: Wall) -> Float64[np.ndarray, "4 4"]:
    """Turns the plan so that the wall runs along x, by at most 45°."""
    angle = float(np.arctan2(wall.along[1], wall.along[0]))
    angle -= np.pi / 2 * np.round(angle / (np.pi / 2))
    out = np.eye(4)
    out[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return out


def _median(values: Float64[np.ndarray, "n"]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 0.0


def _position_sigma(path: CameraPath) -> float:
    return _median(path.position_sigma) if path.motion == "general" else 0.0


def _height_sigma(floor: Level, ceiling: Level | NoEstimate, height: float) -> float:
    """Errors of depth that are common to all points push floor and ceiling apart."""
    if isinstance(ceiling, NoEstimate) or np.isnan(height):
        return np.nan
    apart = float(np.linalg.norm(ceiling.middle[:2]))
    return float(np.hypot(floor.sigma + ceiling.sigma, floor.tilt_sigma_rad * apart))
