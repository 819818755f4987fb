import json
from dataclasses import replace

import av
import numpy as np
import pytest
from PIL import Image
from pydantic import TypeAdapter

from spatial_engine.dataset import media
from templates.media import (
    Arrow,
    Box,
    Drawing,
    Grid,
    Line,
    Mark,
    Outline,
    Photo,
    Polygon,
    ScaleBar,
    Segment,
    Sheet,
    Video,
    Words,
)  # fmt: skip
from tests.spatial_engine.drafts import clip

FOOTAGE = clip()
FRAMES = tuple(FOOTAGE.frames.tolist())
CORNERS = ((0.0, 0.0), (2.0, 0.0), (2.0, 1.0))
PHOTO = Photo(
    frame=FRAMES[3],
    marks=(
        Mark(text="A", xy_px=(1.5, 2.0)),
        Box(text="B", points_px=((10.0, 10.0), (40.0, 30.0))),
        Outline(text="C", points_px=((60.0, 10.0), (90.0, 10.0), (80.0, 40.0))),
        Segment(text="D", points_px=((10.0, 60.0), (40.0, 70.0))),
        Arrow(points_px=((60.0, 60.0), (90.0, 70.0))),
    ),
    crop_px=(0, 0, 100, 90),
)
VIDEO = Video(frames=FRAMES[:16:2])
MAP = Drawing(
    polylines=(((0.0, 0.0), (1.0, 1.0)),),
    points=(Mark(text="A", xy_px=(0.5, 0.5)),),
    polygons=(Polygon(corners=CORNERS, text="hall"),),
    lines=(Line(points=CORNERS[:2]),),
    grid=Grid(left_top=(0.0, 2.0), cell=1.0, columns=2, rows=2),
    scale_bar=ScaleBar(length=1.0, text="1 m"),
)
SHEET = Sheet(
    polygons=(Polygon(corners=CORNERS, fill="blue", edge=None),),
    lines=(Line(points=CORNERS[:2], dashed=True, colour="orange"),),
    texts=(Words(text="1", xy=(0.5, 0.5)),),
    extent=(0.0, 0.0, 3.0, 2.0),
    side_px=320,
)
ALL = (PHOTO, VIDEO, MAP, SHEET)


def test_ids_depend_on_the_content_of_media_only():
    photo, path = Photo(frame=3, marks=PHOTO.marks[:1]), Drawing(polylines=MAP.polylines)
    assert media.medium_id("a" * 16, photo) != media.medium_id("b" * 16, photo)
    assert media.medium_id("a" * 16, VIDEO) != media.medium_id("b" * 16, VIDEO)
    for shapes in (path, SHEET):
        assert media.medium_id("a" * 16, shapes) == media.medium_id("b" * 16, shapes)


def test_ids_of_media_of_earlier_versions_stay():
    photo = Photo(frame=3, marks=(Mark(text="A", xy_px=(1.5, 2.0)),))
    path = Drawing(polylines=MAP.polylines, points=MAP.points)
    assert [media.medium_id("a" * 16, m) for m in (photo, path)] == ["74c1ee0573fffbbf", "aedc1da5b2fb1399"]


CHANGES = (
    [replace(PHOTO, marks=PHOTO.marks[:k] + PHOTO.marks[k + 1 :]) for k in range(5)]
    + [replace(PHOTO, marks=(Segment(text=m.text, points_px=m.points_px),)) for m in PHOTO.marks[1:2]]
    + [replace(PHOTO, marks=(replace(m, text="Z"),)) for m in PHOTO.marks]
    + [replace(PHOTO, marks=(shape(points_px=CORNERS[:2]),)) for shape in (Box, Segment, Arrow)]
    + [replace(PHOTO, frame=FRAMES[4]), replace(PHOTO, crop_px=None), replace(PHOTO, crop_px=(0, 0, 100, 91))]
    + [Video(frames=FRAMES[1:17:2]), Video(frames=FRAMES[:18:2])]
    + [replace(MAP, **{name: getattr(Drawing(), name)}) for name in Drawing.__dataclass_fields__]
    + [replace(MAP, polygons=(replace(MAP.polygons[0], **{k: v}),)) for k, v in (("text", ""), ("fill", "blue"))]
    + [replace(MAP, polygons=(replace(MAP.polygons[0], edge=None),)), replace(MAP, lines=SHEET.lines)]
    + [replace(MAP, grid=Grid(left_top=(0.0, 2.0), cell=1.0, columns=2, rows=1))]
    + [replace(MAP, scale_bar=ScaleBar(length=1.0, text="1"))]
    + [replace(SHEET, **{name: getattr(Sheet(), name)}) for name in Sheet.__dataclass_fields__]
)


def test_ids_differ_where_anything_differs():
    every = [*ALL, *CHANGES]
    assert len({media.medium_id("a" * 16, medium) for medium in every}) == len(set(every)) == len(every)


def test_whole_numbers_are_the_same_content():
    whole, real = (
        Photo(frame=frame, marks=(Mark(text="A", xy_px=xy),)) for frame, xy in ((np.int64(3), (1, 2)), (3, (1.0, 2.0)))
    )
    assert media.medium_id("a" * 16, whole) == media.medium_id("a" * 16, real)


def described(entry):
    """The medium that an entry describes."""
    entry = json.loads(json.dumps(entry))
    match entry["kind"]:
        case "frames":
            shapes = {"box": Box, "outline": Outline, "segment": Segment, "arrow": Arrow}
            marks = [
                TypeAdapter(shapes[m["shape"]] if "shape" in m else Mark).validate_python(m) for m in entry["marks"]
            ]
            return TypeAdapter(Photo).validate_python({**entry, "frame": entry["frames"][0], "marks": marks})
        case "video":
            return TypeAdapter(Video).validate_python(entry)
        case "drawing":
            points = [{"text": point["text"], "xy_px": point["xy"]} for point in entry["points"]]
            return TypeAdapter(Drawing).validate_python({**entry, "points": points})
        case "sheet":
            return TypeAdapter(Sheet).validate_python(entry)


@pytest.mark.parametrize("medium", ALL, ids=lambda medium: type(medium).__name__)
def test_entries_hold_all_that_is_shown(medium):
    entry = media.record(FOOTAGE, medium)
    assert json.loads(json.dumps(entry)) == entry
    assert described(entry) == medium


def test_entries_of_plain_photos_and_maps_have_no_further_keys():
    photo = media.record(FOOTAGE, Photo(frame=FRAMES[0], marks=PHOTO.marks[:1]))
    assert list(photo) == ["id", "kind", "path", "frames", "times_s", "marks", "frame_size_px", "size_px"]
    assert photo["marks"] == [{"text": "A", "xy_px": [1.5, 2.0]}]
    path = media.record(FOOTAGE, Drawing(polylines=MAP.polylines, points=MAP.points))
    assert list(path) == ["id", "kind", "path", "polylines", "points", "size_px"]


def test_a_mark_of_any_shape_says_where_it_is():
    marks = media.record(FOOTAGE, PHOTO)["marks"]
    assert [mark["xy_px"] for mark in marks][1::2] == [[25.0, 20.0], [25.0, 65.0]]
    assert [mark.get("shape") for mark in marks] == [None, "box", "outline", "segment", "arrow"]


def test_frames_are_read_once_each_and_in_order_and_files_are_written_once(tmp_path):
    wanted = []

    class Recording:
        def read(self, frames):
            wanted.append(list(frames))
            yield from FOOTAGE.reader.read(frames)

    footage = replace(FOOTAGE, reader=Recording())
    shown = [Photo(frame=f, marks=(Mark(text=t, xy_px=(9.0, 9.0)),)) for t in "AB" for f in (7, 2)]
    shown += [Photo(frame=2), Photo(frame=2), VIDEO, Video(frames=FRAMES[2:10]), VIDEO, MAP, MAP, SHEET]
    media.render(footage, shown, tmp_path)
    written = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    media.render(footage, shown, tmp_path)
    assert wanted == [sorted({7, 2, *VIDEO.frames, *FRAMES[2:10]})]
    assert len(written) == 4 + 1 + 2 + 2
    assert written == {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}


@pytest.mark.parametrize("medium", ALL, ids=lambda medium: type(medium).__name__)
def test_files_are_as_large_as_their_entries_say_and_equal_twice(medium, tmp_path):
    entry, contents = media.record(FOOTAGE, medium), []
    for name in "ab":
        (tmp_path / name / "media").mkdir(parents=True)
        media.render(FOOTAGE, [medium], tmp_path / name / "media")
        contents.append((tmp_path / name / entry["path"]).read_bytes())
    assert contents[0] == contents[1]
    file = tmp_path / "a" / entry["path"]
    if entry["kind"] == "video":
        with av.open(str(file)) as container:
            stream = container.streams.video[0]
            assert [stream.width, stream.height] == entry["size_px"]
    else:
        with Image.open(file) as image:
            assert list(image.size) == entry["size_px"]


def test_a_video_shows_its_frames_at_their_times(tmp_path):
    entry = media.record(FOOTAGE, VIDEO)
    media.render(FOOTAGE, [VIDEO], tmp_path)
    with av.open(str(tmp_path / f"{entry['id']}.mp4")) as container:
        played = [(frame.time, frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    times_s = np.array(entry["times_s"])
    assert [time for time, _ in played] == pytest.approx(times_s - times_s[0], abs=1e-3)
    assert entry["fps"] == pytest.approx(1 / np.diff(times_s).mean())
    for (_, picture), (_, frame) in zip(played, FOOTAGE.read(VIDEO.frames), strict=True):
        assert np.abs(picture.astype(int) - frame[: picture.shape[0], : picture.shape[1]]).mean() < 12


def test_footage_without_a_clock_plays_evenly(tmp_path):
    footage = replace(FOOTAGE, times_s=None)
    entry = media.record(footage, VIDEO)
    assert entry["times_s"] is None and entry["fps"] == 2.0
    media.render(footage, [VIDEO], tmp_path)
    with av.open(str(tmp_path / f"{entry['id']}.mp4")) as container:
        times_s = [frame.time for frame in container.decode(video=0)]
    assert times_s == pytest.approx(np.arange(8) / 2)


def test_a_crop_shows_its_part_of_the_frame(tmp_path):
    photo = Photo(frame=FRAMES[0], crop_px=(20, 30, 84, 78))
    media.render(FOOTAGE, [photo], tmp_path)
    ((_, frame),) = FOOTAGE.read([FRAMES[0]])
    shown = np.asarray(Image.open(tmp_path / f"{media.medium_id(FOOTAGE.id, photo)}.jpg")).astype(int)
    assert np.abs(shown - frame[30:78, 20:84]).mean() < 6
    with pytest.raises(ValueError, match="allowed: within"):
        media.record(FOOTAGE, Photo(frame=FRAMES[0], crop_px=(0, 0, 9999, 10)))
