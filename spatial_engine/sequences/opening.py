"""A dataset's sequence on disk, opened: the clips that its images are, and its ground truth."""

from collections.abc import Iterator
from collections.abc import Sequence as Items
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions
from spatial_engine.sequences import presets
from spatial_engine.sequences.association import NONE, matched, time_in, times_s
from spatial_engine.sequences.cameras import one_camera, read_camera, read_numbers
from spatial_engine.sequences.depth_images import DepthFiles
from spatial_engine.sequences.effector import read_effector, read_task, seen_by
from spatial_engine.sequences.episodes import opened_episodes
from spatial_engine.sequences.known_room import read_room
from spatial_engine.sequences.listed_objects import no_objects, read_objects
from spatial_engine.sequences.manifest import FILE, Camera, DepthImages, Manifest, check_inside, matching, read_manifest
from spatial_engine.sequences.optical_flow import known_flow
from spatial_engine.sequences.poses import world_from_cam
from spatial_engine.sequences.presets import Layout, Overrides
from spatial_engine.sequences.sequence import Sequence
from spatial_engine.sequences.truth import Truth
from spatial_engine.sources import ImageFolder, find_footage, open_clips, open_photo
from spatial_engine.sources.image_groups import read_header

_FASTEST = 10_000


def open_sequence(
    path: Path, *, preset: str | None = None, manifest: Path | None = None, only: str = "*"
) -> tuple[Sequence, ...]:
    """The clips of a dataset with their ground truth; a sequence longer than a minute gives several.

    Args:
        path: a folder of images with a sequence.yaml, or of a layout that a preset knows; or a sequence.yaml; or
            FOLDER=SEQUENCE.yaml, which stands for `manifest`.
        preset: name of the layout; by default the one that fits.
        manifest: a sequence.yaml that lies elsewhere; its paths are relative to `path`.
        only: of a folder with several sequences those whose name matches this pattern ("scene-0061/*").

    Raises:
        UsageError: what cannot be read as stated.
    """
    if not path.exists() and manifest is None and "=" in str(path):
        place, _, elsewhere = str(path).rpartition("=")
        path, manifest = Path(place), Path(elsewhere)
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r}", f"give a folder of a known layout, or with a {FILE}")
    folder = path.parent if path.is_file() else path
    layouts = [layout for layout in _layouts(path, preset, manifest) if fnmatch(layout.manifest.name, only)]
    if not layouts:
        raise UsageError(f"{path} has no sequence called {only!r}", "leave out --only to see the names")
    return tuple(sequence for layout in layouts for sequence in _opened(folder, layout))


def _layouts(path: Path, preset: str | None, manifest: Path | None) -> Items[Layout]:
    """How to read a folder."""
    if preset is not None and manifest is not None:
        raise UsageError("both a preset and a manifest", "give one of them")
    if manifest is not None:
        return (Layout(manifest=read_manifest(manifest)),)
    if path.is_file():
        return (Layout(manifest=read_manifest(path)),)
    if preset is None and (path / FILE).is_file():
        found = read_manifest(path / FILE)
        check_inside(found, str(path / FILE))  # it came with the data
        return (Layout(manifest=found),)
    name = preset or presets.detect(path)
    known = presets.preset(name)
    with _as_laid_out(f"{path} as {name}"):
        layouts = tuple(known.layouts(path))
    return tuple(replace(layout, manifest=replace(layout.manifest, checked=known.checked)) for layout in layouts)


@contextmanager
def _as_laid_out(what: str) -> Iterator[None]:
    """Turns whatever odd files make of a preset's code into words."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError) as error:
        raise UsageError(
            f"{what}: its files are not as that layout has them ({error!r})", "see docs/sequences.md"
        ) from error


def _opened(folder: Path, layout: Layout) -> Iterator[Sequence]:
    stated = layout.manifest
    if stated.episodes is not None:
        yield from opened_episodes(folder, stated, stated.episodes)
        return
    paths, footage = _images(folder, stated)
    with _as_laid_out(stated.name):
        overrides = Overrides() if layout.overrides is None else layout.overrides(paths)
    images_s = overrides.times_s
    if images_s is None and stated.times is not None:
        images_s = times_s(folder, stated.times, paths)
    cameras = _cameras(folder, stated, overrides, len(paths))
    poses = overrides.world_from_cam
    if poses is None and stated.poses is not None:
        poses = world_from_cam(folder, stated.poses, paths, images_s)
    if poses is not None and not cameras:
        raise UsageError(f"{stated.name}: poses without a camera", "state camera: fx, fy, cx, cy, or cameras: files")
    depth = overrides.depth
    if depth is None and stated.depth is not None:
        depth = _depth_files(folder, stated, stated.depth, paths, images_s, cameras)
    objects = None if overrides.objects is None else overrides.objects.checked()
    if objects is None and stated.objects is not None:
        objects = read_objects(folder, stated.objects, paths, stated.static)
    elif objects is None and stated.static:
        objects = no_objects(len(paths))
    truth = Truth(
        manifest=stated, camera=None, world_from_cam=poses, depth=depth, objects=objects, times_s=images_s,
        up_cam=_up_cam(folder, stated, paths),
    )  # fmt: skip
    truth = _with_rest(folder, truth, len(paths))
    options = OpenOptions(upright=stated.upright, licence=stated.licence, fps=_rate(images_s))
    if footage is None:
        for k, image in enumerate(paths):
            name = f"{stated.name}/{image.stem}"
            clip = open_photo(image, name, replace(options, fps=None))
            yield Sequence(clip=clip, truth=truth.only(k, cameras[k] if cameras else None), manifest=stated)
        return
    whole = replace(truth, camera=one_camera(cameras, stated.name) if cameras else None)
    for clip in open_clips(footage, options):
        timed = clip if images_s is None else replace(clip, times_s=images_s[clip.frames])
        yield Sequence(clip=timed, truth=whole, manifest=stated)


def _images(folder: Path, manifest: Manifest) -> tuple[Items[Path], ImageFolder | None]:
    """The images, and the footage that they are together; none for stills."""
    if not isinstance(manifest.images, str):
        paths = tuple(folder / name for name in manifest.images)
        missing = [path.name for path in paths if not path.is_file()]
        if missing or not paths:
            raise UsageError(
                f"{manifest.name}: {len(missing)} of {len(paths)} images are missing", ", ".join(missing[:3])
            )
    elif manifest.stills:
        paths = tuple(matching(folder, manifest.images))
        if not paths:
            raise UsageError(f"{manifest.name}: no file matches {manifest.images!r} in {folder}", "correct images")
    else:
        footage = _found(folder, manifest.name, manifest.images)
        return footage.paths, footage
    if manifest.stills:
        return paths, None
    try:
        first = read_header(paths[0])
    except (OSError, SyntaxError, ValueError) as error:
        raise UsageError(f"{manifest.name}: {paths[0]} is not a readable image", "correct images") from error
    return paths, ImageFolder(paths=paths, name=manifest.name, width_px=first.width_px, height_px=first.height_px)


def _found(folder: Path, name: str, pattern: str) -> ImageFolder:
    found = [one for one in find_footage(folder, pattern).taken if isinstance(one, ImageFolder)]
    if len(found) != 1:
        what = "no two images" if not found else f"{len(found)} groups of images ({', '.join(g.name for g in found)})"
        raise UsageError(f"{name}: {what} match {pattern!r} in {folder}", "one pattern, one size, one sequence")
    return found[0]


def _cameras(folder: Path, manifest: Manifest, overrides: Overrides, count: int) -> tuple[Camera, ...]:
    """One per image; empty where none is stated."""
    if manifest.camera is not None and manifest.cameras is not None:
        raise UsageError(f"{manifest.name}: both camera and cameras", "state one of them")
    if overrides.cameras:
        return overrides.cameras
    camera = manifest.camera if manifest.cameras is None else read_camera(folder, manifest.cameras)
    return () if camera is None else (camera,) * count


def _up_cam(folder: Path, manifest: Manifest, images: Items[Path]) -> Float64[np.ndarray, "n 3"] | None:
    """Up in the camera axes of each image, where it is stated so; NaN where an image has none."""
    stated = manifest.gravity
    if stated is None:
        return None
    if bool(stated.file) == (stated.up_world is not None):
        raise UsageError(f"{manifest.name}: gravity: state either up_world or file", "file: a row x y z per image")
    if not stated.file:
        return None
    rows = read_numbers(folder / stated.file)
    lengths = np.linalg.norm(rows, axis=1)
    if rows.shape[1] != 3 or not (lengths > 0).all():
        raise UsageError(
            f"{folder / stated.file}: rows of {rows.shape[1]} numbers, shortest {lengths.min():g}", "x y z"
        )
    place = matched(
        images, None, match=stated.match, count=len(rows), names=(), times_s=None, tolerance_s=0.0, what="up directions"
    )
    return np.where((place == NONE)[:, None], np.nan, (rows / lengths[:, None])[place])


def _with_rest(folder: Path, truth: Truth, count: int) -> Truth:
    """With the room, the flow and the effector that the manifest states."""
    stated, provenance = truth.manifest, truth.provenance
    task = None if stated.task is None else read_task(stated.task, count, provenance)
    room, flow, effector = stated.room, stated.flow, stated.effector
    up = None if stated.gravity is None else stated.gravity.up_world
    path = None if effector is None else read_effector(folder, effector, count, truth.scale, provenance)
    if path is not None and effector is not None and effector.base_is_world:
        path = seen_by(path, truth.world_from_cam)
    return replace(
        truth,
        room=None if room is None else read_room(folder / room.file, room, up, truth.objects, provenance),
        flow=None if flow is None else known_flow(folder, flow, count),
        effector=path,
        task=task,
    )


def _rate(images_s: Float64[np.ndarray, "n"] | None) -> float | None:
    """Images a second: what cuts a sequence into clips of a minute."""
    if images_s is None or len(images_s) < 2:
        return None
    steps = np.diff(images_s)
    if not np.all(steps > 0):
        raise UsageError("the times of the images do not rise", "check times, or the order of the images' names")
    rate = float(round(1 / np.median(steps), 6))
    if not 0 < rate < _FASTEST:
        raise UsageError(f"times: {rate:g} images a second", "check the unit of the times")
    return rate


def _depth_files(
    folder: Path,
    manifest: Manifest,
    depth: DepthImages,
    images: Items[Path],
    images_s: Float64[np.ndarray, "n"] | None,
    cameras: Items[Camera],
) -> DepthFiles:
    paths = matching(folder, depth.images)
    if not paths:
        raise UsageError(f"{manifest.name}: no file matches {depth.images!r} in {folder}", "correct depth.images")
    from_names = manifest.times is not None and manifest.times.from_names
    stamps = np.array([time_in(path, manifest.times) for path in paths]) if from_names and manifest.times else None
    rows = matched(
        images, images_s, match=depth.match, count=len(paths), names=[path.name for path in paths],
        times_s=stamps, tolerance_s=depth.tolerance_s, what="depth images",
    )  # fmt: skip
    return DepthFiles(
        paths=[None if row == NONE else paths[row] for row in rows],
        stated=depth,
        camera=depth.camera or (cameras[0] if cameras else None),
    )
