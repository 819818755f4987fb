"""`sequence.yaml`: which files of a data set are images, depth, poses, and what their numbers mean.

Paths and patterns are relative to the manifest's folder. What a data set does not have is left out.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from spatial_engine.errors import UsageError
from spatial_engine.sources.yaml_file import read_yaml


class _Stated:
    """Base of the manifest's parts: an unknown key is an error, and so is text where a number belongs."""

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": False}


Match = Literal["order", "name", "time"]
"""How rows or files belong to images: one by one, by the digits of their names, or by the nearest time."""


@dataclass(frozen=True, kw_only=True)
class Times(_Stated):
    """When the images were taken: one of fps, file, from_names (frames need fps too)."""

    fps: float | None = None
    """A constant rate."""
    file: str = ""
    """A text: one time a line, or several columns of which the first is the time."""
    from_names: Literal["", "frames", "seconds", "milliseconds", "microseconds", "nanoseconds"] = ""
    """The last number in each image's name is its time in that unit; frames: it counts frames of a video of `fps`."""


@dataclass(frozen=True, kw_only=True)
class Camera(_Stated):
    """Intrinsics at full size, in pixels, (0, 0) at the centre of the top-left pixel."""

    fx: float
    fy: float
    cx: float
    cy: float
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0
    """OpenCV's terms. A signal holds one radial term: the one nearest to all five, or the camera is refused."""
    focal_relative_sigma: float = 0.005


@dataclass(frozen=True, kw_only=True)
class CameraFiles(_Stated):
    """Intrinsics out of files. A clip has one camera: the median of all files, which must agree within 2 %."""

    files: str
    """Pattern."""
    form: Literal["matrix", "pincam", "colmap", "nerfstudio"] = "matrix"
    """Nine or sixteen numbers of K; width height fx fy cx cy; cameras.txt; transforms.json."""
    focal_relative_sigma: float = 0.005


@dataclass(frozen=True, kw_only=True)
class Poses(_Stated):
    """Camera poses."""

    file: str = ""
    """File with all poses, in a format of `sources.trajectories` ("poses.txt")."""
    files: str = ""
    """Instead: pattern of text files with one 4x4 matrix each."""
    form: str = "auto"
    """Format of `file`: one of `sources.trajectories`; "matrices": 16 numbers of a 4x4 matrix a row; "quaternions": x y
    z qx qy qz qw a row; "axis-angle": time, rotation vector, translation a row. Of `files`: auto, or "strecha": K,
    zeros, rotation, centre, size."""
    direction: Literal["c2w", "w2c"] = "c2w"
    axes: Literal["opencv", "opengl", "ned"] = "opencv"
    """Axes of the camera: x right, y down, z forward; x right, y up, z backward; x forward, y right, z down."""
    match: Match = "order"
    tolerance_s: float = 0.02
    """Largest time difference of a match by time."""
    rotation_sigma_deg: float = 0.5
    direction_sigma_deg: float = 2.0
    """σ of the direction between two positions."""
    position_relative_sigma: float = 0.05
    """σ of a position, as a part of the median step between frames."""


@dataclass(frozen=True, kw_only=True)
class DepthImages(_Stated):
    """Depth, one image per colour image."""

    images: str
    """Pattern: PNG or TIFF of 16 bit or floats, .npy, .hdf5 (its array "dataset")."""
    unit_m: float
    """Metres per unit of the files."""
    bits: Literal["number", "half_float", "rotated"] = "number"
    """What 16 bits are: a number; a float of half precision (CO3D); a number rotated by 3 bits (SUN RGB-D)."""
    along: Literal["z", "range"] = "z"
    """Along the viewing axis, or along the ray."""
    invalid: tuple[float, ...] = (0.0,)
    """Values that mean "not known"."""
    registered: bool = True
    """Whether depth and colour pixels at one place see the same point; else depth is not used as truth."""
    camera: Camera | None = None
    """Intrinsics of the depth camera, if it is not the colour camera."""
    match: Match = "order"
    tolerance_s: float = 0.02
    relative_sigma: float = 0.01


@dataclass(frozen=True, kw_only=True)
class Gravity(_Stated):
    """Which way is up in the world of the poses."""

    up_world: tuple[float, float, float]
    sigma_deg: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Scale(_Stated):
    """Unit of lengths."""

    kind: Literal["metric", "relative"]
    relative_sigma: float = 0.02
    source: str = ""
    """Source of the metric scale ("Kinect", "GPS/IMU")."""


@dataclass(frozen=True, kw_only=True)
class Objects(_Stated):
    """Known objects with oriented boxes in the world of the poses."""

    file: str
    """JSON: [{"label", "world_from_object": 4x4, "size": [x, y, z]}]; a moving object: one 4x4, or null, per image."""
    masks: str = ""
    """Pattern of instance images whose values are places in that list, from 1; 0 is nothing. With masks the list counts
    as complete: whatever is not in it stands still."""
    match: Match = "order"
    sigma: float = 0.05
    """σ of centres and side lengths without masks, in the world's unit."""


@dataclass(frozen=True, kw_only=True)
class Manifest(_Stated):
    """One sequence."""

    name: str
    images: str | tuple[str, ...]
    """Pattern of the colour images, whose natural order is the order of frames; or a list of them in order."""
    stills: bool = False
    """Each image is a scene of its own: one clip of one frame each."""
    licence: str = "unknown"
    upright: bool = False
    """Whether roll and pitch of most frames lie within 45 degrees."""
    truth: Literal["truth", "agreement"] = "truth"
    """agreement: made from the images themselves (structure from motion): it can agree, it cannot prove."""
    times: Times | None = None
    camera: Camera | None = None
    cameras: CameraFiles | None = None
    """Instead of `camera`."""
    poses: Poses | None = None
    depth: DepthImages | None = None
    gravity: Gravity | None = None
    scale: Scale | None = None
    objects: Objects | None = None
    checked: bool = False
    """For a preset: whether it was run on real data of that layout; else it is from documentation."""
    notes: tuple[str, ...] = field(default=())
    """What to know about this data set."""


FILE = "sequence.yaml"


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file. Raises `UsageError` that names the key."""
    return manifest_of(read_yaml(path, "name a sequence.yaml as docs/sequences.md has it"), str(path))


def manifest_of(stated: Any, source: str) -> Manifest:
    """A manifest of plain values. `source` names it in errors."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(stated, dict):
        raise UsageError(f"{source} holds {type(stated).__name__}, not keys and values", "see docs/sequences.md")
    try:
        return TypeAdapter(Manifest).validate_python(stated)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{source}: {place}: {first['msg']} (given: {str(first['input'])[:60]!r})", "see docs/sequences.md"
        ) from error
