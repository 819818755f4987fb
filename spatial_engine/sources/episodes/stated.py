"""What a manifest says of episodes: where their tables are, and what the columns mean."""

from dataclasses import dataclass
from typing import ClassVar, Literal

Layout = Literal["lerobot", "table", "bridge", "egodex"]
"""LeRobot v2 and v3; a CSV or parquet file per episode; BridgeData as JSON (episode.json); HDF5 files of EgoDex."""


@dataclass(frozen=True, kw_only=True)
class Episodes:
    """Episodes below the manifest's folder. `images` of the manifest names their pictures: of lerobot the key of a
    video ("observation.images.front"); of table and egodex a pattern of videos, one per table, with its name; of bridge
    a pattern of images in each episode's folder."""

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": False}

    layout: Layout
    axes: str
    """Which axes of the stated wrist point right, down and forward along the fingers: "-y,-z,+x"."""
    files: str = ""
    """Of table and egodex: pattern of the tables."""
    pose: tuple[str, ...] = ()
    """Columns of the wrist's pose in the frame of the base, position first; "observation.state.3" is the number at
    place 3 (from 0) of a column of lists. Of egodex the name of a transform ("rightHand")."""
    form: Literal["rpy", "axis-angle", "quaternion", "matrix"] = "rpy"
    """After x y z: roll pitch yaw about fixed x, y, z; a rotation vector; qx qy qz qw. matrix: 16 numbers, 4x4."""
    opening: str = ""
    """Column of the opening; "" if it is not known."""
    closed: float = 0.0
    """Its value when closed, ..."""
    open: float = 1.0
    """... and when open."""
    time: str = ""
    """Of table: column of the time in seconds."""
    kind: Literal["gripper", "hand"] = "gripper"
    success: bool | None = None
    """Whether the episodes end with their task done, as far as the dataset says so of all of them."""
    rotation_sigma_deg: float = 1.0
    position_sigma: float = 0.005
