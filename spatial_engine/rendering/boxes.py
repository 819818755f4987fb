"""What a rendered scene is made of: textured boxes, still or moving. A room is a box seen from inside."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from spatial_engine.rendering.textures import Material


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """An object made of several boxes, such as a table. Boxes with the same instance belong to the same object."""

    name: str
    fronts: int = 1
    """1: faces along -y of its first box; 2, 4: looks the same after a half or quarter rotation; 0: has no front; -1:
    unknown."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A cuboid. The origin of its frame is its centre, the axes are along its edges."""

    name: str
    """Name of the object; of the part ("leg"), if it belongs to a `Piece`."""
    size_m: tuple[float, float, float]
    """Edge lengths along the box's x, y, z."""
    world_from_box: Float64[np.ndarray, "4 4"]
    materials: tuple[Material, ...]
    """What covers the six faces: -x, +x, -y (the front), +y, -z, +z."""
    of: Piece | None = None
    """The object that it is a part of; None: it is an object by itself."""
    affords: tuple[str, ...] = ()
    """What this part is for: ("pull", "open")."""

    @property
    def fronts(self) -> int:
        """Of the object: as its piece says. A box by itself has one if its front has a cover of its own."""
        if self.of is not None:
            return self.of.fronts
        if self.materials[2] != self.materials[3]:
            return 1
        return 4 if self.size_m[0] == self.size_m[1] else 2

    @property
    def half_m(self) -> Float64[np.ndarray, "3"]:
        """Half the edge lengths."""
        return np.array(self.size_m) / 2


@dataclass(frozen=True, kw_only=True)
class MovingBox:
    """A box that moves in the world."""

    box: Box
    """Its `world_from_box` is not used."""
    world_from_box: Float64[np.ndarray, "n 4 4"]
    """Pose of the box in each frame."""


def standing(
    name: str,
    size_m: Sequence[float],
    foot_m: Sequence[float],
    *,
    side: Material,
    front: Material | None = None,
    top: Material | None = None,
    yaw_deg: float = 0.0,
    of: Piece | None = None,
    affords: tuple[str, ...] = (),
) -> Box:
    """A box whose bottom face is centred at `foot_m`, turned about the vertical (anticlockwise from above)."""
    x, y, z = (float(s) for s in size_m)
    middle = np.add(foot_m, [0, 0, z / 2])
    faces = (side, side, front or side, side, side, top or side)
    return Box(
        name=name, size_m=(x, y, z), world_from_box=placed(middle, yaw_deg), materials=faces, of=of, affords=affords
    )


def placed(middle_m: Sequence[float] | np.ndarray, yaw_deg: float = 0.0) -> Float64[np.ndarray, "4 4"]:
    """world_from_box of an upright box."""
    turn = Rotation.from_euler("z", yaw_deg, degrees=True)
    return RigidTransform.from_components(np.asarray(middle_m, dtype=float), turn).as_matrix()


def sliding(box: Box, feet_m: Float64[np.ndarray, "n 3"], yaw_deg: Float64[np.ndarray, "n"]) -> MovingBox:
    """A box whose bottom's centre runs through `feet_m`."""
    middles = np.add(feet_m, [0, 0, box.size_m[2] / 2])
    turns = Rotation.from_euler("z", yaw_deg[:, None], degrees=True)
    return MovingBox(box=box, world_from_box=RigidTransform.from_components(middles, turns).as_matrix())
