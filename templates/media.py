"""The media of questions: photos with marks, videos, maps, and sheets of plain shapes. What they show, not how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf, isfinite
from typing import Any, Literal, get_args

XY = tuple[float, float]
Colour = Literal["white", "light", "grey", "dark", "blue", "orange", "green", "purple"]
"""Colours of drawings: a full tone for lines, a tint for areas, so that dark text on areas stays legible."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A lettered point drawn into a picture."""

    text: str
    """One or two characters."""
    xy_px: XY
    """Position in pixels of the upright full-size frame."""

    @property
    def points_px(self) -> tuple[XY, ...]:
        """The point alone."""
        return (self.xy_px,)


@dataclass(frozen=True, kw_only=True)
class _Shape:
    points_px: tuple[XY, ...]
    """In pixels of the upright full-size frame. Pixel centres are at integers."""
    text: str = ""
    """A letter or a short name; none if empty."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for another number of points than two, and for points that are not finite."""
        _check(self.points_px, f"{type(self).__name__}.points_px", least=2, most=2)

    @property
    def xy_px(self) -> XY:
        """The mean of its points: where it is, when marks of all kinds are compared."""
        xs, ys = zip(*self.points_px, strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)


@dataclass(frozen=True, kw_only=True)
class Box(_Shape):
    """A box between two opposite corners. Its line is drawn just outside, and covers nothing of it."""


@dataclass(frozen=True, kw_only=True)
class Outline(_Shape):
    """A closed outline: three or more corners in order. Its line is drawn just outside, as that of a box."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for fewer than three corners, and for corners that are not finite."""
        _check(self.points_px, "Outline.points_px", least=3)


@dataclass(frozen=True, kw_only=True)
class Segment(_Shape):
    """A line between two points, with a tick across each end."""


@dataclass(frozen=True, kw_only=True)
class Arrow(_Shape):
    """An arrow from the first point to the second."""


PhotoMark = Mark | Box | Outline | Segment | Arrow


@dataclass(frozen=True, kw_only=True)
class Photo:
    """One frame of the clip, with marks."""

    frame: int
    marks: tuple[PhotoMark, ...] = ()
    crop_px: tuple[int, int, int, int] | None = None
    """Left, top, right, bottom in pixels of the frame: right and bottom are the first ones left out. The whole frame if
    None. Marks refer to the frame, not to the crop."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for a crop without pixels."""
        if self.crop_px and not (0 <= self.crop_px[0] < self.crop_px[2] and 0 <= self.crop_px[1] < self.crop_px[3]):
            raise ValueError(f"Photo.crop_px is {self.crop_px}; allowed: 0 <= left < right and 0 <= top < bottom")

    @classmethod
    def marked(cls, frame: int, points_px: Mapping[str, Sequence[float]]) -> "Photo":
        """A frame with points, by their letters."""
        return cls(frame=frame, marks=tuple(Mark(text=text, xy_px=(x, y)) for text, (x, y) in points_px.items()))

    @classmethod
    def boxed(cls, objects: Mapping[str, Mapping[str, Any]]) -> "Photo":
        """The frame of objects (recorded `templates.facts.ObjectRefs`), each in a box with the given text."""
        boxes = [Box(text=text, points_px=tuple(map(tuple, ref["box_px"]))) for text, ref in objects.items()]
        return cls(frame=next(iter(objects.values()))["frame"], marks=tuple(boxes))

    @classmethod
    def all_boxed(cls, objects: Mapping[str, Mapping[str, Any]]) -> "tuple[Photo, ...]":
        """The frames of objects in order of time, each with its own objects as `boxed` draws them."""
        frames = sorted({ref["frame"] for ref in objects.values()})
        return tuple(cls.boxed({text: ref for text, ref in objects.items() if ref["frame"] == f}) for f in frames)


@dataclass(frozen=True, kw_only=True)
class Video:
    """Frames of the clip as one video, which plays as fast as the clip."""

    frames: tuple[int, ...]
    """8 to 64 frame indices, ascending."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for too few, too many or unordered frames."""
        if not 8 <= len(self.frames) <= 64:
            raise ValueError(f"Video.frames has {len(self.frames)} frames; allowed: 8 to 64")
        if sorted(set(self.frames)) != list(self.frames):
            raise ValueError("Video.frames must ascend: a video runs forwards")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A plain line of a drawing, through its points in order."""

    points: tuple[XY, ...]
    colour: Colour = "dark"
    dashed: bool = False

    def __post_init__(self) -> None:
        """Raises `ValueError` for fewer than two points, and for points that are not finite."""
        _check(self.points, "Line.points", least=2)


@dataclass(frozen=True, kw_only=True)
class Polygon:
    """A filled polygon of a drawing: a room, free space, a face of a puzzle."""

    corners: tuple[XY, ...]
    text: str = ""
    """Written where the polygon is widest."""
    fill: Colour = "light"
    edge: Colour | None = "dark"
    """Colour of its edge; None for no edge."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for fewer than three corners, and for corners that are not finite."""
        _check(self.corners, "Polygon.corners", least=3)


@dataclass(frozen=True, kw_only=True)
class Words:
    """A text centred on a position of a sheet."""

    text: str
    xy: XY


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Square cells over a map. Columns have letters from the left, rows have numbers from the top: "B3"."""

    left_top: XY
    cell: float
    """Side of a cell in map units."""
    columns: int
    """1 to 26."""
    rows: int

    def __post_init__(self) -> None:
        """Raises `ValueError` for a grid without cells, or with more columns than letters."""
        if not (1 <= self.columns <= 26 and self.rows >= 1 and self.cell > 0):
            raise ValueError(
                f"Grid has {self.columns} columns and {self.rows} rows of {self.cell}; allowed: 1 to 26 columns, "
                "1 or more rows, cells larger than 0"
            )


@dataclass(frozen=True, kw_only=True)
class ScaleBar:
    """A bar that shows a length on a map."""

    length: float
    """In map units."""
    text: str
    """The length in words: "1 m"."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A map: a picture made of lines and areas, in map units (x right, y up)."""

    polylines: tuple[tuple[XY, ...], ...] = ()
    """Paths; the first point is drawn as a dot, the last as an arrow head."""
    points: tuple[Mark, ...] = ()
    """Labelled points; `xy_px` is in map units here."""
    polygons: tuple[Polygon, ...] = ()
    """Below all lines; later ones lie over earlier ones."""
    lines: tuple[Line, ...] = ()
    """Lines that are no paths: walls."""
    grid: Grid | None = None
    scale_bar: ScaleBar | None = None


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Plain shapes without axes, for puzzles, in units of its own (x right, y up)."""

    polygons: tuple[Polygon, ...] = ()
    """Below all lines; later ones lie over earlier ones."""
    lines: tuple[Line, ...] = ()
    texts: tuple[Words, ...] = ()
    extent: tuple[float, float, float, float] | None = None
    """Left, bottom, right, top of what is shown: equal extents give equal scales. None: it fits what is drawn."""
    side_px: int = 640
    """Longer side of the picture."""


@dataclass(frozen=True, kw_only=True)
class MatchedPhotos:
    """Two frames of the clip side by side. Lines join pixels that show the same point."""

    frames: tuple[int, int]
    lines_px: tuple[tuple[XY, XY], ...]
    """A pixel of the first full-size frame, and one of the second."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for pixels that are not finite."""
        for line in self.lines_px:
            _check(line, "MatchedPhotos.lines_px", least=2, most=2)


@dataclass(frozen=True, kw_only=True)
class DepthMap:
    """A frame of the clip with the distance from the camera as colour, beside a bar with the scale."""

    frame: int
    levels: bytes
    """Distance in equal cells of the frame, row by row: 0 where unknown, else from 1 (`near`) to 255 (`far`) in equal
    steps of its logarithm."""
    columns: int
    near: float
    far: float
    unit: str
    """"m"; "" for multiples of a distance."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for incomplete rows, and for a scale without extent."""
        if not self.levels or len(self.levels) % self.columns:
            raise ValueError(f"DepthMap.levels has {len(self.levels)} cells; allowed: whole rows of {self.columns}")
        if not 0 < self.near < self.far < inf:
            raise ValueError(f"DepthMap from {self.near} to {self.far}; allowed: 0 < near < far")


Medium = Photo | Video | Drawing | Sheet | MatchedPhotos | DepthMap
MEDIA: tuple[type, ...] = get_args(Medium)


def _check(points: Sequence[XY], name: str, least: int, most: float = inf) -> None:
    if not least <= len(points) <= most:
        raise ValueError(f"{name} has {len(points)} points; allowed: {least if least == most else f'{least} or more'}")
    if not all(map(isfinite, chain.from_iterable(points))):
        odd = next(xy for xy in points if not all(map(isfinite, xy)))
        raise ValueError(f"{name} holds {odd}; allowed: finite numbers")
