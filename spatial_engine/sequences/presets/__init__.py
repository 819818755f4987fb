"""Manifests of known layouts, by name. A preset is `checked` only where it was run on real data of that layout."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from jaxtyping import Float64

from experts.registry import Registry, UnknownNameError
from spatial_engine.errors import UsageError
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.known_objects import KnownObjects
from spatial_engine.sequences.manifest import Camera, Manifest

Images = Sequence[Path]


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Ground truth that a preset's own code reads, one entry per image; the rest is read as the manifest says."""

    cameras: tuple[Camera, ...] = ()
    """One per image."""
    world_from_cam: Float64[np.ndarray, "n 4 4"] | None = None
    """With OpenCV axes; NaN where an image has no pose."""
    times_s: Float64[np.ndarray, "n"] | None = None
    depth: DepthSource | None = None
    objects: KnownObjects | None = None


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One sequence of a folder."""

    manifest: Manifest
    overrides: Callable[[Images], Overrides] | None = None
    """Reads what no manifest can describe, for the images in their order. Raises `UsageError`."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One layout."""

    fits: Callable[[Path], bool]
    """Whether a folder looks like one sequence of it."""
    layouts: Callable[[Path], Iterable[Layout]]
    """All its sequences. Raises `UsageError` if a file that it needs is missing or malformed."""
    source: str
    """Where the layout is described."""
    checked: bool
    """Whether it was run on real data; else it is from documentation."""


def single(manifest: Callable[[Path], Manifest]) -> Callable[[Path], tuple[Layout, ...]]:
    """For layouts of one sequence a folder that a manifest alone describes."""
    return lambda folder: (Layout(manifest=manifest(folder)),)


_HOME = "spatial_engine.sequences.presets"
PRESETS = Registry(
    "spatial_engine.sequences",
    {
        "tum": f"{_HOME}.tum:TUM",
        "seven-scenes": f"{_HOME}.seven_scenes:SEVEN_SCENES",
        "kitti-odometry": f"{_HOME}.kitti_odometry:KITTI_ODOMETRY",
        "scannet": f"{_HOME}.scannet:SCANNET",
        "scannetpp": f"{_HOME}.scannetpp:SCANNETPP",
        "arkitscenes": f"{_HOME}.arkitscenes:ARKITSCENES",
        "hypersim": f"{_HOME}.hypersim:HYPERSIM",
        "sun-rgbd": f"{_HOME}.sun_rgbd:SUN_RGBD",
        "matterport3d": f"{_HOME}.matterport3d:MATTERPORT3D",
        "tartanair": f"{_HOME}.tartanair:TARTANAIR",
        "co3dv2": f"{_HOME}.co3dv2:CO3DV2",
        "kitti-object": f"{_HOME}.kitti_object:KITTI_OBJECT",
        "kitti-tracking": f"{_HOME}.kitti_tracking:KITTI_TRACKING",
        "nuscenes": f"{_HOME}.nuscenes:NUSCENES",
        "adt": f"{_HOME}.adt:ADT",
    },
)
"""All presets. Third parties add theirs as entry points of that group."""


def preset(name: str) -> Preset:
    """A preset by name. Raises `UsageError`."""
    try:
        return cast(Preset, PRESETS.load(name))
    except UnknownNameError as error:
        raise UsageError(f"no preset is called {name!r}", f"there is: {', '.join(PRESETS.targets())}") from error


def detect(folder: Path) -> str:
    """The one preset that fits. Raises `UsageError` where none or several do."""
    found = [name for name, known in PRESETS.load_all().items() if cast(Preset, known).fits(folder)]
    if len(found) == 1:
        return found[0]
    cause = f"{folder} fits {' and '.join(found)}" if found else f"{folder} has no sequence.yaml and no known layout"
    remedy = "name a preset" if found else "write a sequence.yaml (docs/sequences.md), or name a preset"
    raise UsageError(cause, f"{remedy}: {', '.join(found or PRESETS.targets())}")
