"""`sequence.yaml`: which files of a dataset are images, depth, poses, and what their numbers mean.

Paths and patterns are relative to the manifest's folder. What a dataset does not have is left out.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal, TypeVar

from experts.objects.box_orientation import Axis
from spatial_engine.errors import UsageError
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.image_groups import natural_key
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
    z qx qy qz qw a row; "axis-angle": time, rotation vector, translation a row; "rotations": qx qy qz qw a row, for
    cameras whose position is not known. Of `files`: auto, or "strecha": K, zeros, rotation, centre, size."""
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
    """Whether depth and colour pixels at one place see the same point; else depth counts only with `off_px`."""
    off_px: float = 0.0
    """How many pixels of the images a depth may lie beside its colour pixel, if they are not registered: its σ then
    takes in all depths within that distance."""
    close_gaps: bool = True
    """Whether gaps a pixel or two wide within a surface are closed; false where pixels are left out on purpose."""
    camera: Camera | None = None
    """Intrinsics of the depth camera, if it is not the colour camera."""
    match: Match = "order"
    tolerance_s: float = 0.02
    relative_sigma: float = 0.01

    @property
    def counts(self) -> bool:
        """Whether depth is used as truth."""
        return self.registered or self.off_px > 0


@dataclass(frozen=True, kw_only=True)
class Gravity(_Stated):
    """Which way is up: one of up_world, file."""

    up_world: tuple[float, float, float] | None = None
    """In the world of the poses."""
    file: str = ""
    """Instead: text with one row of three numbers per image, the direction towards the sky in camera axes."""
    match: Literal["order", "name"] = "order"
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
    """JSON: a list of `ListedObject`."""
    masks: str = ""
    """Pattern of instance images; 0 is nothing."""
    part_masks: str = ""
    """Pattern of images whose values are those of the objects' parts; 0 is nothing."""
    match: Match = "order"
    complete: bool | tuple[str, ...] = False
    """Whether every object in the images is listed; or the names of which every one is."""
    sigma: float | None = None
    """σ of centres and side lengths, in the world's unit; by default 0 with masks, else 0.05."""
    angle_sigma_deg: float = 2.0
    """σ of the boxes' axes."""


@dataclass(frozen=True, kw_only=True)
class ListedPart(_Stated):
    """A part of an object."""

    name: str
    mask: int
    """Its value in `part_masks`."""
    affords: tuple[str, ...] = ()
    """What it is for: ["pull", "open"]."""


@dataclass(frozen=True, kw_only=True)
class ListedObject(_Stated):
    """One entry of the list of objects."""

    label: str
    world_from_object: list[Any] | None = None
    """Centre and axes of its box: 4x4; a moving object: one 4x4, or null, per image."""
    size: tuple[float, float, float] | None = None
    """Side lengths of its box along x, y, z."""
    mask: int | None = None
    """Its value in the masks; by default its place in the list, from 1."""
    front: Axis | None = None
    """Side of the box that is the object's front."""
    up: Axis = "+z"
    """Side of the box that is the object's top."""
    fronts: Literal[0, 1, 2, 4] | None = None
    """1 front; 2 or 4 if it looks the same after a half or quarter turn; 0: none (a ball). By default 1 with `front`;
    else it is not known."""
    visible: float | list[float | None] | None = None
    """Share of it that the images show, 0 to 1: of all images, or one per image. Without masks and without depth, only
    an object that states it is asked about."""
    parts: tuple[ListedPart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Room(_Stated):
    """Floor and walls, in the world of the poses; needs `gravity.up_world`."""

    file: str
    """JSON: a `ListedRoom`."""
    sigma: float = 0.02
    """σ of floor, walls and height, in the world's unit."""


@dataclass(frozen=True, kw_only=True)
class ListedRoom(_Stated):
    """The room's file. All places are points of the world; their height does not count."""

    floor: float
    """Height of the floor: its coordinate along `up_world`."""
    outline: tuple[tuple[float, float, float], ...] = ()
    """Corners of the walls, in order."""
    height: float | None = None
    """Of the ceiling above the floor."""
    doors: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = ()
    """Both ends of each doorway."""


@dataclass(frozen=True, kw_only=True)
class Flow(_Stated):
    """Optical flow from each image to the next."""

    files: str
    """Pattern of .flo files, 16-bit PNG as KITTI has them, or .npy (h w 2); the number of images less one, in order."""
    backward: str = ""
    """The same from each image to the one before it. Without it, hidden pixels are not known, and no match counts."""
    sigma_px: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Effector(_Stated):
    """Pose and opening of a gripper or hand, a row per image."""

    file: str
    """Poses of the wrist in the frame of the robot's base."""
    form: Literal["matrices", "quaternions"] = "matrices"
    """A row: 16 numbers of a 4x4 matrix; or x y z qx qy qz qw."""
    axes: Literal["opencv", "opengl", "ned"] = "opencv"
    """Axes of the wrist; opencv: z along the fingers."""
    opening: str = ""
    """Text: a number per image, 0 closed to 1 open."""
    kind: Literal["gripper", "hand"] = "gripper"
    base_is_world: bool = False
    """Whether that frame is the world of the camera's poses: then it is known where a picture shows the wrist."""
    rotation_sigma_deg: float = 1.0
    position_sigma: float = 0.005


@dataclass(frozen=True, kw_only=True)
class Step(_Stated):
    """A step of a task."""

    text: str
    frame: int
    """Number of the image with which it begins, from 0."""


@dataclass(frozen=True, kw_only=True)
class Task(_Stated):
    """What is done in the images."""

    instruction: str
    """"put the cup on the plate"."""
    steps: tuple[Step, ...] = ()
    """In their order; the first begins with image 0."""
    success: bool | None = None
    """Whether the task is done at the end, if that is known."""


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
    static: bool | None = None
    """Whether everything that is not a listed object stands still; by default if the objects have masks."""
    room: Room | None = None
    flow: Flow | None = None
    effector: Effector | None = None
    task: Task | None = None
    """Instead of both: `episodes`, of which a folder holds many."""
    episodes: Episodes | None = None
    checked: bool = False
    """For a preset: whether it was run on real data of that layout; else it is from documentation."""
    notes: tuple[str, ...] = field(default=())
    """What to know about this dataset."""


FILE = "sequence.yaml"


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file. Raises `UsageError` that names the key."""
    return manifest_of(read_yaml(path, "name a sequence.yaml as docs/sequences.md has it"), str(path))


def check_inside(manifest: Manifest, source: str) -> None:
    """Raises `UsageError` if a manifest that came with a dataset names files outside of it."""
    for key, name in _named_files(manifest):
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            raise UsageError(
                f"{source}: {key} leads out of the folder: {name[:60]!r}",
                "name files below the folder; if you wrote it yourself, state it with --manifest",
            )


def matching(folder: Path, pattern: str) -> list[Path]:
    """The files of a pattern of a manifest, in natural order. Raises `UsageError` for what is no pattern."""
    try:
        return sorted(folder.glob(pattern), key=natural_key)
    except (ValueError, NotImplementedError) as error:
        raise UsageError(
            f"{pattern[:60]!r} is no pattern of files below {folder}", "name them as in images/*.png"
        ) from error


def _named_files(part: Any) -> Iterator[tuple[str, str]]:
    """(key, path or pattern) of all files that a part of a manifest names."""
    for one in fields(part):
        value = getattr(part, one.name)
        if is_dataclass(value):
            yield from _named_files(value)
        elif one.name in _FILES:
            yield from ((one.name, name) for name in ((value,) if isinstance(value, str) else value))


_FILES = ("images", "file", "files", "masks", "part_masks", "backward", "opening")


def manifest_of(stated: Any, source: str) -> Manifest:
    """A manifest of plain values. `source` names it in errors."""
    if not isinstance(stated, dict):
        raise UsageError(f"{source} holds {type(stated).__name__}, not keys and values", _SEE)
    return as_stated(Manifest, stated, source)


Stated = TypeVar("Stated")
_SEE = "see docs/sequences.md"


def as_stated(kind: type[Stated], values: Any, source: str) -> Stated:
    """Plain values as a type of this file. Raises `UsageError`: the file, the key, what was given and what may be."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{source}: {place}: {first['msg']} (given: {str(first['input'])[:60]!r})", _SEE) from error


def read_json_as(kind: type[Stated], path: Path) -> Stated:
    """The content of a JSON file as a type of this file. Raises `UsageError`."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}", _SEE) from error
    return as_stated(kind, values, str(path))
