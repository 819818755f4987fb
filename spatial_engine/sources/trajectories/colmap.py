"""COLMAP's images.txt: two lines per image, quaternion first, world to camera; ordered by image name."""

from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sources.image_groups import natural_key
from spatial_engine.sources.trajectories.text_rows import is_number, matrices_from_quaternions, number, read_text
from spatial_engine.sources.trajectories.trajectory import TrajectoryFormat, WrittenPoses

FIELDS = 10
"""Fields of the first line: IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME. NAME may contain blanks."""


def read_colmap(path: Path) -> WrittenPoses:
    """Raises `UsageError` that names the line."""
    images = _images(path)
    if not images:
        raise UsageError(f"{path} has no image", "give the images.txt of a model with registered images")
    names = [name for _, _, name in images]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{path} has {repeated!r} twice", "keep one pose for each image")
    order = sorted(range(len(images)), key=lambda row: natural_key(Path(names[row])))
    values = np.array([images[row][1] for row in order])
    places = tuple(f"line {images[row][0]} ({images[row][2]})" for row in order)
    notes = () if order == sorted(order) else ("images are ordered by name, not as in the file",)
    return WrittenPoses(
        matrices=matrices_from_quaternions(path, places, values[:, 4:7], values[:, :4]),
        places=places,
        names=tuple(names[row] for row in order),
        notes=notes,
    )


def _images(path: Path) -> list[tuple[int, list[float], str]]:
    """(line, qw qx qy qz tx ty tz, name) of each image."""
    images = []
    lines = enumerate(read_text(path).splitlines(), start=1)
    for line, text in lines:
        if not text.strip() or text.startswith("#"):
            continue
        fields = text.split(maxsplit=FIELDS - 1)
        if len(fields) < FIELDS:
            raise UsageError(
                f"{path}, line {line}: {len(fields)} columns, but an image has {FIELDS}",
                "write IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME, then a line of points, which may be empty",
            )
        images.append((line, [number(path, line, field) for field in fields[1:8]], fields[9].strip()))
        _, points = next(lines, (0, ""))
        if len(points.split()) % 3:
            raise UsageError(
                f"{path}, line {line + 1}: not a line of points (x y id, ...)",
                "every image takes two lines; the second may be empty, but must exist",
            )
    return images


def matches(head: str) -> bool:
    """Whether the first line is that of an image."""
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    fields = first.split(maxsplit=FIELDS - 1)
    if len(fields) < FIELDS or not (fields[0].isdecimal() and fields[8].isdecimal()):
        return False
    return len(first.split()) == FIELDS or not all(map(is_number, fields[9].split()))  # a row of KITTI has numbers only


COLMAP = TrajectoryFormat(matches=matches, read=read_colmap, poses="w2c", axes="opencv", scale="relative")
