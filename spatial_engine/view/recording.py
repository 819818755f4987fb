"""The recording of a clip: its entities, its time lines, and how the viewer arranges them at first."""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import rerun as rr
import rerun.blueprint as rrb
from jaxtyping import Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip, Picture
from experts.comparing.agreement_paths import median_range
from experts.footage.decoding import DecodingError
from experts.signals import NoEstimate, Signal
from spatial_engine.options import ViewOptions
from spatial_engine.progress import printable
from spatial_engine.view import cameras, objects, room, surfaces
from spatial_engine.view.picture_camera import PICTURE, PictureCamera
from spatial_engine.view.timeline import Timeline
from templates.scene.scene import Scene

_PICTURES = 120
"""Most pictures by default; as many again of frames that have depth or objects."""
_SECOND = "world/second"


def record(clip: Clip, signals: Mapping[str, Signal | NoEstimate], options: ViewOptions, file: Path) -> None:
    """Writes the recording. Signals without an estimate are absent from it; a text in it says why."""
    known = {name: signal for name, signal in signals.items() if not isinstance(signal, NoEstimate)}
    scene = Scene(clip=clip, signals=known)
    second = Scene(clip=clip, signals={name.removesuffix("_check"): s for name, s in known.items() if "_check" in name})
    stream = rr.RecordingStream("spatial_engine", recording_id=clip.id, send_properties=False)
    stream.set_log_time_enabled(False)
    stream.save(file, default_blueprint=_blueprint(scene))
    stream.send_recording_name(printable(clip.name))
    stream.log("clip", rr.TextDocument(_about(clip, signals), media_type="text/markdown"), static=True)
    _orient(stream, scene)
    line = Timeline(stream, clip)
    size = _reach(scene)
    cameras.show_path(line, scene, "world", size)
    cameras.show_up(line, scene, size)
    if second.path is not None and cameras.align(line, scene, second, _SECOND):
        cameras.show_path(line, second, _SECOND, size)
        if second.points is not None:
            surfaces.show_points(line, second.points, f"{_SECOND}/points", options.points)
    objects.show_boxes(line, scene)
    objects.show_fronts(line, scene)
    if scene.room is not None:
        room.show_room(line, scene.room)
    surfaces.show_tracks(line, scene, options.tracks)
    _show_frames(line, scene, options, size)
    stream.disconnect()


def shown_frames(scene: Scene, every: int | None) -> Int64[np.ndarray, "n"]:
    """Frames of which the picture is shown: every n-th, and as many again of those with depth or objects."""
    frames = scene.clip.frames
    base = frames[:: every or -(-len(frames) // _PICTURES)]
    measured = [signal.frames for signal in (scene.depth, scene.objects) if signal is not None]
    extra = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *measured]))
    extra = extra[np.isin(extra, frames)]
    return np.union1d(base, extra[:: max(1, -(-len(extra) // len(base)))])


def _show_frames(line: Timeline, scene: Scene, options: ViewOptions, size: float) -> None:
    """What belongs to single frames: pictures, and the masks, tracks and depth in them."""
    path, calibration = scene.path, scene.calibration
    known = path.intrinsics if path is not None else None if calibration is None else calibration.intrinsics
    camera = PictureCamera(scene.clip, known, options.picture_side)
    if known is not None:
        camera.show(line, size)
    objects.name_masks(line, scene)
    colours = None if scene.points is None else surfaces.PointColours(scene.points)
    for frame, picture in _pictures(scene.clip, shown_frames(scene, options.every)):
        line.at(frame)
        if picture is not None:
            camera.show_picture(line, picture)
        objects.show_masks(line, scene, camera, frame)
        surfaces.show_tracked_pixels(line, scene, camera, frame, options.tracks)
        surfaces.show_depth(line, scene, frame, picture, options.points)
        if colours is not None and picture is not None:
            colours.look(frame, picture)
    if scene.points is not None and colours is not None:
        surfaces.show_points(line, scene.points, "world/points", options.points, colours.rgb)


def _pictures(clip: Clip, frames: Int64[np.ndarray, "n"]) -> Iterator[tuple[int, Picture | None]]:
    """Pictures by frame; None, with one warning, from the first that cannot be read."""
    read = 0
    try:
        for frame, picture in clip.read(frames.tolist()):
            read += 1
            yield frame, picture
    except (DecodingError, OSError) as error:
        warnings.warn(f"{clip.name}: pictures from frame {frames[read]} on cannot be read ({error})", stacklevel=2)
        yield from ((int(frame), None) for frame in frames[read:])


def _orient(stream: rr.RecordingStream, scene: Scene) -> None:
    """Makes the z axis of the viewer point up, if up is known; the entities keep the coordinates of the signals."""
    if scene.up_world is None:
        stream.log("/", rr.ViewCoordinates.RDF, static=True)
        return
    stream.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    stream.log("world", rr.Transform3D(mat3x3=_level_from_world(scene)), static=True)


def _level_from_world(scene: Scene) -> np.ndarray:
    """Rotates up to +z; without up, the identity."""
    if scene.up_world is None:
        return np.eye(3)
    return np.asarray(Rotation.align_vectors([[0.0, 0.0, 1.0]], [scene.up_world])[0].as_matrix())


def _reach(scene: Scene) -> float:
    """The median range of what the camera sees, else the extent of its path, else 1."""
    if scene.path is None:
        return 1.0
    found = median_range(scene.path, scene.depth, scene.points)
    places = cameras.poses(scene.path)[:, :3, 3]
    extent = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    return found if np.isfinite(found) and found > 0 else extent or 1.0


def _blueprint(scene: Scene) -> rrb.Blueprint:
    """The scene beside the picture; the second reconstruction is switched off, depth adds up over the frames."""
    few = scene.objects is not None and len(scene.objects.labels) <= objects.LABELLED
    boxes = ["/world/objects/**"] if few else []
    picture = rrb.Spatial2DView(origin=PICTURE, contents=["$origin/**", *boxes], name="Picture")
    about = rrb.TextDocumentView(origin="clip", name="Signals")
    time = rrb.TimePanel(timeline="frame", play_state="paused")
    if scene.path is None:
        return rrb.Blueprint(rrb.Horizontal(picture, about), time, collapse_panels=True)
    until_now = rrb.VisibleTimeRanges(
        [
            rrb.VisibleTimeRange(
                name, start=rrb.TimeRangeBoundary.infinite(), end=rrb.TimeRangeBoundary.cursor_relative()
            )
            for name in Timeline.NAMES
        ]
    )
    space = rrb.Spatial3DView(
        origin="/",
        name="Scene",
        eye_controls=_eye(scene),
        overrides={_SECOND: rrb.EntityBehavior(visible=False), "world/depth": until_now},
    )
    side = rrb.Vertical(picture, about, row_shares=[3, 2])
    return rrb.Blueprint(rrb.Horizontal(space, side, column_shares=[2, 1]), time, collapse_panels=True)


def _eye(scene: Scene) -> rrb.EyeControls3D:
    """Behind and above the first camera, looking where it looks: far points do not decide what is in view."""
    assert scene.path is not None
    level, first = _level_from_world(scene), cameras.poses(scene.path)
    pose = first[0] if len(first) else np.eye(4)
    up = level @ (-pose[:3, 1] if scene.up_world is None else scene.up_world)
    start, ahead, reach = level @ pose[:3, 3], level @ pose[:3, 2], _reach(scene)
    return rrb.EyeControls3D(
        position=start - 0.8 * reach * ahead + 0.8 * reach * up, look_target=start + 0.8 * reach * ahead, eye_up=up
    )


def _about(clip: Clip, signals: Mapping[str, Signal | NoEstimate]) -> str:
    """The name and licence of the clip, and the expert of each signal, or why there is no estimate."""
    lines = [f"# {clip.name}", f"Clip {clip.id}, licence of the footage: {clip.licence}", ""]
    for name, signal in signals.items():
        if isinstance(signal, NoEstimate):
            lines.append(f"- {name}: no estimate ({signal.reason})")
        else:
            made = signal.provenance
            licences = {made.weights_licence, *(each["weights_licence"] for each in made.made_from)} - {None}
            weights = f", weights {', '.join(sorted(map(str, licences)))}" if licences else ""
            lines.append(f"- {name}: {made.expert} {made.version}{weights}")
    return "\n".join(map(printable, lines))
