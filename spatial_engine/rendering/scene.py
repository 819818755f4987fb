"""A room, what is in it, a camera, and its exact pictures, depths and ids."""

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import cv2
import numpy as np
from jaxtyping import Float32, Float64, Int16, Int32, UInt8
from scipy.spatial.transform import RigidTransform, Slerp

from experts.intrinsics import Intrinsics
from spatial_engine.rendering.boxes import Box, MovingBox
from spatial_engine.rendering.casting import camera_rays, cast
from spatial_engine.rendering.objects import WholeObject, grouped
from spatial_engine.rendering.round_bodies import SIDE, RoundBody
from spatial_engine.rendering.shading import (
    Pyramid,
    face_colours,
    face_size_m,
    light_on,
    pyramid,
    side_colours,
    soft_shadow,
)
from spatial_engine.rendering.textures import painted

_FLOOR = 4
"""The face of the room that objects stand on."""


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What a real camera adds. The default adds nothing."""

    noise_grey: float = 0.0
    """σ of noise per pixel and channel, in grey levels."""
    blur_px: float = 0.0
    """σ of a Gaussian blur."""
    exposure_drift: float = 0.0
    """Largest relative change of brightness over the clip."""
    rolling_shutter: float = 0.0
    """Share of the time between frames that passes from the first to the last row. Depth and ids keep to it."""
    zoom: float = 1.0
    """Focal length of the last frame over that of the first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RenderedScene:
    """Exact in all that it says. World: metres, z up. Camera axes: OpenCV."""

    intrinsics: Intrinsics
    """The camera of the first frame (of all, without zoom)."""
    room: Box
    """Seen from inside; id -1."""
    boxes: tuple[Box, ...]
    """What stands still; ids 0, 1, ..."""
    moving_boxes: tuple[MovingBox, ...] = ()
    """What moves; ids go on from the boxes'."""
    partitions: tuple[Box, ...] = ()
    """Inner walls; id -1."""
    doorways_m: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = ()
    """Ends (x, y) of each doorway on the floor."""
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    fps: float
    effects: Effects = field(default_factory=Effects)
    seed: int = 0
    """Of the noise."""
    texel_m: float = 0.004
    """Size of a texture's cell on the surfaces."""
    supersampling: int = 2
    """Rays per pixel and axis in pictures."""

    def __post_init__(self) -> None:
        in_room = np.linalg.inv(self.room.world_from_box) @ self.world_from_cam[:, :, 3:]
        if np.any(np.abs(in_room[:, :3, 0]) >= self.room.half_m):
            raise ValueError(f"the camera leaves the room of {self.room.size_m} m: shorten the path or move its start")

    def __len__(self) -> int:
        return len(self.world_from_cam)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of the box of each id."""
        return tuple(b.name for b in self.furniture)

    @cached_property
    def objects(self) -> tuple[WholeObject, ...]:
        """Objects as a person names them, in the order of their first boxes: a table is its top and its legs."""
        return grouped(self.furniture, self.world_from_boxes(0))

    def camera(self, frame: int) -> Intrinsics:
        """The camera of a frame: differs only with zoom."""
        factor = self.effects.zoom ** (frame / max(1, len(self) - 1))
        return self.intrinsics if factor == 1 else _zoomed(self.intrinsics, factor)

    def picture(self, frame: int) -> UInt8[np.ndarray, "h w 3"]:
        """RGB."""
        return self._through_lens(frame, self._colours(frame))

    def depth(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """Metres along the viewing axis at pixel centres."""
        return _at_pixel_centres(self, frame)[0].copy()

    def ids(self, frame: int) -> Int32[np.ndarray, "h w"]:
        """Row of `labels` seen at pixel centres; -1 for the room itself."""
        box = _at_pixel_centres(self, frame)[1].astype(np.int32) // 6 - 1
        return np.where(box < len(self.labels), box, -1).astype(np.int32)

    def object_ids(self, frame: int) -> Int32[np.ndarray, "h w"]:
        """Row of `objects` seen at pixel centres; -1 for the room itself."""
        return self.object_of_boxes[self.ids(frame)]

    @cached_property
    def object_of_boxes(self) -> Int32[np.ndarray, "k1"]:
        """Row of `objects` that each id belongs to; the last is -1, so that id -1 has it."""
        rows = np.full(len(self.labels) + 1, -1, dtype=np.int32)
        for k, item in enumerate(self.objects):
            rows[list(item.boxes)] = k
        return rows

    def world_from_boxes(self, frame: int) -> Float64[np.ndarray, "k 4 4"]:
        """Pose of each id in a frame."""
        poses = [b.world_from_box for b in self.boxes] + [m.world_from_box[frame] for m in self.moving_boxes]
        return np.stack(poses) if poses else np.zeros((0, 4, 4))

    def world_from_objects(self, frame: int) -> Float64[np.ndarray, "k 4 4"]:
        """Pose of the box around each of `objects` in a frame."""
        poses = self.world_from_boxes(frame)
        return np.array([item.world_from_object(poses) for item in self.objects]).reshape(-1, 4, 4)

    @property
    def furniture(self) -> list[Box]:
        """The box of every id."""
        return [*self.boxes, *(m.box for m in self.moving_boxes)]

    def _solids(self) -> list[Box]:
        """The room, then every id, then inner walls."""
        return [self.room, *self.furniture, *self.partitions]

    def _world_from_solids(self, frame: int) -> list[Float64[np.ndarray, "4 4"]]:
        return [self.room.world_from_box, *self.world_from_boxes(frame), *(p.world_from_box for p in self.partitions)]

    def _world_from_cam_rows(self, frame: int) -> Float64[np.ndarray, "r 4 4"]:
        """One pose, or one per row under a rolling shutter (the middle row is exposed at the frame's own time)."""
        readout, rows = self.effects.rolling_shutter, self.intrinsics.height_px
        if not readout or len(self) < 2:
            return self.world_from_cam[frame : frame + 1]
        when = frame + readout * ((np.arange(rows) + 0.5) / rows - 0.5)
        a = int(np.clip(np.floor(when[0]), 0, len(self) - 2))
        b = min(a + 2, len(self) - 1)
        known = RigidTransform.from_matrix(self.world_from_cam[a : b + 1])
        when = np.clip(when, a, b)
        turns = Slerp(np.arange(a, b + 1), known.rotation)(when)
        at = np.stack([np.interp(when, np.arange(a, b + 1), known.translation[:, k]) for k in range(3)], axis=1)
        return RigidTransform.from_components(at, turns).as_matrix()

    def _box_from_cam(self, frame: int) -> list[Float64[np.ndarray, "r 4 4"]]:
        world_from_cam = self._world_from_cam_rows(frame)
        return [np.linalg.inv(world_from_box) @ world_from_cam for world_from_box in self._world_from_solids(frame)]

    def _cast(self, frame: int, camera: Intrinsics) -> tuple[Float32[np.ndarray, "h w"], Int16[np.ndarray, "h w"]]:
        repeat = camera.height_px // self.intrinsics.height_px
        poses = [p if len(p) == 1 else np.repeat(p, repeat, axis=0) for p in self._box_from_cam(frame)]
        return cast(camera, poses, self._solids())

    def _colours(self, frame: int) -> Float32[np.ndarray, "h w 3"]:
        """Several rays a pixel; where all meet one face, it is coloured once (textures are blurred to a pixel)."""
        camera, k = self.camera(frame), self.supersampling
        h, w = camera.height_px, camera.width_px
        fine = camera.scaled(w * k, h * k)
        depth, surface = self._cast(frame, fine)
        parts = [(slice(i, None, k), slice(j, None, k)) for i in range(k) for j in range(k)]
        one = np.logical_and.reduce([surface[p] == surface[parts[0]] for p in parts])
        mixed_row, mixed_column = np.nonzero(~one)
        sub_row = (mixed_row[:, None] * k + np.arange(k * k) // k).ravel()
        sub_column = (mixed_column[:, None] * k + np.arange(k * k) % k).ravel()
        middle = k * k / np.sum([1 / depth[p] for p in parts], axis=0)  # 1 / z is linear on a plane
        colours = self._shaded(
            frame,
            np.concatenate([camera_rays(camera).swapaxes(1, 2)[one], camera_rays(fine)[sub_row, :, sub_column]]),
            np.concatenate([middle[one], depth[sub_row, sub_column]]),
            np.concatenate([surface[::k, ::k][one], surface[sub_row, sub_column]]),
            np.concatenate([np.nonzero(one)[0], sub_row // k]),
        )
        whole = len(colours) - len(sub_row)
        picture = np.empty((h, w, 3), dtype=np.float32)
        picture[one] = colours[:whole]
        picture[~one] = colours[whole:].reshape(-1, k * k, 3).mean(axis=1)
        return picture

    def _shaded(
        self, frame: int, rays: np.ndarray, depth: np.ndarray, surface: np.ndarray, row: np.ndarray
    ) -> Float32[np.ndarray, "n 3"]:
        """Colours of a list of hits."""
        solids, camera = self._solids(), self.camera(frame)
        world_from_box = self._world_from_solids(frame)
        box_from_cam = [p.astype(np.float32) for p in self._box_from_cam(frame)]
        colours = np.empty((len(depth), 3), dtype=np.float32)
        order = np.argsort(surface, kind="stable")
        border = np.searchsorted(surface[order], np.arange(6 * len(solids) + 1))
        for s in np.flatnonzero(np.diff(border)):
            solid, face = divmod(int(s), 6)
            at = order[border[s] : border[s + 1]]
            pose = box_from_cam[solid]
            pose = pose if len(pose) == 1 else pose[row[at]]
            body, levels = solids[solid], self._pyramids[solid][face]
            if isinstance(body, RoundBody) and face == SIDE:
                colour, normal = side_colours(rays[at], depth[at], pose, body, 1 / camera.fx_px, levels)
                light = light_on(normal @ world_from_box[solid][:3, :3].T)
                colours[at] = colour * light[:, None].astype(np.float32)
                continue
            half = body.half_m.astype(np.float32)
            colour = face_colours(rays[at], depth[at], pose, face, half, 1 / camera.fx_px, levels)
            outward = world_from_box[solid][:3, face // 2] * (1 if (face % 2 == 1) == (solid > 0) else -1)
            colours[at] = colour * np.float32(light_on(outward))
        return colours

    @cached_property
    def _pyramids(self) -> list[tuple[Pyramid, ...]]:
        """Textures of the six faces of every solid."""
        out = []
        for k, solid in enumerate(self._solids()):
            pictures = []
            for face, material in enumerate(solid.materials):
                texel = min(self.texel_m, min(solid.size_m) if min(solid.size_m) > 0.1 else self.texel_m)
                size = solid.cover_size_m(face) if isinstance(solid, RoundBody) else face_size_m(face, solid.half_m)
                picture = painted(material, *size, texel)
                pictures.append(self._with_shadows(picture) if k == 0 and face == _FLOOR else picture)
            out.append(tuple(pyramid(p) for p in pictures))
        return out

    def _with_shadows(self, floor: UInt8[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "h w 3"]:
        """The floor, darker around what stands on it."""
        x, y, z = self.room.size_m
        footprints = []
        for box in (*self.boxes, *self.partitions):
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * box.half_m[:2]
            corners = np.c_[corners, np.full(4, -box.half_m[2]), np.ones(4)] @ box.world_from_box.T
            corners = corners @ np.linalg.inv(self.room.world_from_box).T
            if corners[:, 2].max() + z / 2 < 0.3 and box.size_m[2] > 0.05:
                share = np.stack([corners[:, 0] / x + 0.5, 0.5 - corners[:, 1] / y], axis=1)
                footprints.append(share * floor.shape[1::-1])
        return soft_shadow(floor, footprints, 0.07 / self.texel_m)

    def _through_lens(self, frame: int, colours: Float32[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "h w 3"]:
        effects = self.effects
        if effects.blur_px:
            colours = cv2.GaussianBlur(colours, (0, 0), effects.blur_px)
        phase = 2 * np.pi * frame / max(1, len(self) - 1)
        colours = colours * np.float32(1 + effects.exposure_drift * np.sin(phase))
        if effects.noise_grey:
            rng = np.random.default_rng([self.seed, frame])
            colours += np.float32(effects.noise_grey) * rng.standard_normal(colours.shape, dtype=np.float32)
        return np.clip(np.round(colours), 0, 255).astype(np.uint8)


def camera(width_px: int, height_px: int, *, vfov_deg: float = 45.0) -> Intrinsics:
    """A camera without distortion."""
    return Intrinsics.centred(width_px, height_px, float(height_px / 2 / np.tan(np.deg2rad(vfov_deg) / 2)))


@lru_cache(maxsize=32)
def _at_pixel_centres(scene: RenderedScene, frame: int) -> tuple[Float32[np.ndarray, "h w"], Int16[np.ndarray, "h w"]]:
    """Depth and surface, which several truths about one frame read."""
    return scene._cast(frame, scene.camera(frame))


def _zoomed(camera: Intrinsics, factor: float) -> Intrinsics:
    return replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor)
