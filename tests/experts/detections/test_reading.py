"""Every format, as its tool writes it, gives the same two detections; what is wrong is counted by reason."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.detections import reading
from experts.detections.matching import matched
from experts.detections.reading import digest_of, read_detections
from experts.detections.runs import drawn_polygons, drawn_runs, run_lengths
from experts.detections.stated import MOST_PER_FRAME, NotDetections, StatedFile, cleaned

WIDTH, HEIGHT = 40, 20
BOX = (4.0, 2.0, 20.0, 12.0)
POLYGON = [4.0, 2.0, 20.0, 2.0, 20.0, 12.0, 4.0, 12.0]
MASK = np.zeros((HEIGHT, WIDTH), dtype=bool)
MASK[2:12, 4:20] = True
COUNTS = [82, *[10, 10] * 15, 10, 408]
"""Column by column: 4 columns and 2 rows outside, then 10 pixels of each of 16 columns."""
CATEGORIES = [{"id": 3, "name": "chair"}, {"id": 7, "name": "table"}]


def compressed() -> str:
    """COCO's text for COUNTS, by its definition: differences to the last but one, 5 bits a letter."""
    out = ""
    for k, count in enumerate(COUNTS):
        value = count - COUNTS[k - 2] if k > 2 else count
        more = True
        while more:
            bits, value = value & 31, value >> 5
            more = value != (-1 if bits & 16 else 0)
            out += chr((bits | 32 if more else bits) + 48)
    return out


def coco() -> Any:
    return {
        "images": [{"id": 5, "file_name": "photos/frame_000012.jpg", "width": WIDTH, "height": HEIGHT}],
        "categories": CATEGORIES,
        "annotations": [
            {"id": 1, "image_id": 5, "category_id": 3, "bbox": [4, 2, 16, 10], "segmentation": [POLYGON], "iscrowd": 0},
            {"id": 2, "image_id": 5, "category_id": 7, "bbox": [4, 2, 16, 10], "score": 0.5},
        ],
    }


def coco_results() -> Any:
    runs = {"size": [HEIGHT, WIDTH], "counts": compressed()}
    return [
        {"image_id": 12, "category_id": 3, "bbox": [4, 2, 16, 10], "score": 0.9, "segmentation": runs},
        {"image_id": 12, "category_id": 7, "bbox": [4, 2, 16, 10], "score": 0.5},
    ]


def labelme() -> Any:
    chair = {"label": "chair", "shape_type": "polygon", "points": np.reshape(POLYGON, (-1, 2)).tolist()}
    table = {"label": "table", "shape_type": "rectangle", "points": [[20, 12], [4, 2]], "group_id": None}
    size = {"imageWidth": WIDTH, "imageHeight": HEIGHT}
    return {"version": "5.4.1", "flags": {}, "shapes": [chair, table], "imagePath": "frame_000012.jpg", **size}


def grounding_dino() -> Any:
    return {"frame_000012.jpg": {"boxes": [list(BOX)] * 2, "scores": [0.9, 0.5], "text_labels": ["chair", "table"]}}


def grounding_dino_demo() -> Any:
    share = [12 / WIDTH, 7 / HEIGHT, 16 / WIDTH, 10 / HEIGHT]
    return [
        {"boxes": [share] * 2, "labels": ["chair(0.90)", "table (0.5)"], "size": [HEIGHT, WIDTH], "image_path": "12"}
    ]


def grounded_sam() -> Any:
    chair = {"class_name": "chair", "bbox": list(BOX), "score": [0.9]}
    chair["segmentation"] = {"size": [HEIGHT, WIDTH], "counts": compressed()}
    table = {"class_name": "table", "bbox": list(BOX), "score": 0.5}
    about = {"image_path": "x/frame_000012.jpg", "box_format": "xyxy", "img_width": WIDTH, "img_height": HEIGHT}
    return [about | {"annotations": [chair, table]}]


def pipeline() -> Any:
    box = dict(zip(("xmin", "ymin", "xmax", "ymax"), BOX, strict=True))
    return {"12.jpg": [{"label": "chair", "score": 0.9, "box": box}, {"label": "table", "score": 0.5, "box": box}]}


def written(folder: Path, content: Any, name: str = "detections.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content", [coco, coco_results, labelme, grounding_dino, grounding_dino_demo, grounded_sam, pipeline]
)
def test_every_json_gives_names_scores_boxes_and_frames(tmp_path: Path, content: Callable[[], Any]) -> None:
    written(tmp_path, "a\nb\nc\nchair\nd\ne\nf\ntable\n", "classes.txt")
    file = read_detections(written(tmp_path, content()))
    assert not file.left_out
    (frame,) = file.frames
    assert matched(file, ["a_7.jpg", "frame_000012.jpg"], 2) == {1: [frame]}
    assert matched(file, (), 30) == {12: [frame]}
    chair, table = frame.detections
    assert (chair.name, table.name) == ("chair", "table")
    assert chair.score in (0.9, pytest.approx(math.nan, nan_ok=True)) and table.score in (
        0.5,
        pytest.approx(math.nan, nan_ok=True),
    )
    assert table.box is not None and not table.has_mask
    scale = np.tile([WIDTH, HEIGHT] if table.relative else [1, 1], 2)
    np.testing.assert_allclose(np.array(table.box) * scale, BOX)
    if chair.runs is not None:
        np.testing.assert_array_equal(drawn_runs(chair.runs, (HEIGHT, WIDTH)), MASK)
    if chair.polygons:
        drawn = drawn_polygons(chair.polygons, (WIDTH, HEIGHT), (HEIGHT, WIDTH))
        assert (drawn & MASK).sum() == MASK.sum() and drawn.sum() < 1.2 * MASK.sum()


def test_yolo_takes_boxes_outlines_scores_and_names(tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    written(tmp_path, "path: .\nnames:\n  0: chair\n  1: table\n", "data.yaml")
    outline = " ".join(f"{x}" for x in np.reshape(POLYGON, (-1, 2)).ravel() / np.tile([WIDTH, HEIGHT], 4))
    written(labels, f"0 0.3 0.35 0.4 0.5\n\n1 0.3 0.35 0.4 0.5 0.5\n0 {outline}\n1 {outline} 0.5\n", "room_12.txt")
    written(labels, "", "room_13.txt")
    file = read_detections(labels)
    assert file.format == "YOLO" and not file.left_out
    frames = matched(file, (), 30, "room")
    assert matched(file, (), 30, "hall") == {}
    assert sorted(frames) == [12, 13] and not frames[13][0].detections
    box, scored, mask, scored_mask = frames[12][0].detections
    assert [one.name for one in (box, scored, mask, scored_mask)] == ["chair", "table", "chair", "table"]
    assert box.box == pytest.approx((0.1, 0.1, 0.5, 0.6)) and box.relative
    assert (scored.score, scored_mask.score) == (0.5, 0.5) and math.isnan(box.score) and math.isnan(mask.score)
    assert mask.has_mask and len(mask.polygons[0]) == 4


def test_segments_without_names_are_objects(tmp_path: Path) -> None:
    segment = {"segmentation": {"size": [HEIGHT, WIDTH], "counts": COUNTS}, "bbox": [4, 2, 16, 10], "area": 160}
    segment |= {"predicted_iou": 0.97, "stability_score": 0.95, "point_coords": [[1.0, 2.0]]}
    alone = read_detections(written(tmp_path, [segment], "12.json"))
    sa_1b = {"image": {"image_id": 4, "width": WIDTH, "height": HEIGHT, "file_name": "sa_12.jpg"}}
    named = read_detections(written(tmp_path, sa_1b | {"annotations": [segment]}, "x.json"))
    for file in (alone, named):
        assert list(matched(file, ["sa_12.jpg"], 1)) == [0]
        (one,) = file.frames[0].detections
        assert (one.name, one.score) == ("object", 0.97) and one.runs is not None


@pytest.mark.parametrize("counts", [COUNTS[:-1], [*COUNTS, 1], [-82, *COUNTS[1:]], "zz~~", "", "0", compressed()[:-1]])
def test_runs_that_do_not_fit_are_no_mask(tmp_path: Path, counts: Any) -> None:
    assert run_lengths((HEIGHT, WIDTH), counts) is None
    content = coco()
    content["annotations"][0]["segmentation"] = {"size": [HEIGHT, WIDTH], "counts": counts}
    file = read_detections(written(tmp_path, content))
    assert file.left_out == {"the runs of the mask do not fit its size": 1} and file.incomplete == {"chair"}


def test_runs_are_those_of_pycocotools() -> None:
    tools = pytest.importorskip("pycocotools.mask")
    rng = np.random.default_rng(0)
    for _ in range(50):
        mask = rng.random((rng.integers(1, 40), rng.integers(1, 40))) < rng.random()
        text = tools.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode()
        runs = run_lengths(mask.shape, text)  # type: ignore[arg-type]
        assert runs is not None
        np.testing.assert_array_equal(drawn_runs(runs, mask.shape), mask)  # type: ignore[arg-type]


def changed(**parts: Any) -> Any:
    content = coco()
    content["annotations"][0] |= parts
    return content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (changed(score=math.nan), "the score is not a number from 0 to 1"),
        (changed(score=87), "the score is not a number from 0 to 1"),
        (changed(score="high"), "the score is not a number from 0 to 1"),
        (changed(category_id=99), "no name"),
        (changed(category_name="<script></script> "), "no name"),
        (changed(segmentation=None, bbox=[4, 2, 0, 10]), "the box has no extent"),
        (changed(segmentation=None, bbox=[4, 2, math.nan, 10]), "the box has no extent"),
        (changed(segmentation=None, bbox=None), "neither box nor mask"),
        (changed(segmentation=[[1, 2, 3]]), "the outline is no polygon"),
        (changed(bbox=[1, 2, 3]), "an entry is not understood"),
        (changed(bbox="here"), "an entry is not understood"),
        (changed(iscrowd=1), "a crowd, not one object"),
        (changed(image_id=6), "its picture is not listed"),
    ],
)
def test_a_detection_that_cannot_be_used_is_counted_and_the_others_stay(
    tmp_path: Path, content: Any, reason: str
) -> None:
    file = read_detections(written(tmp_path, content))
    assert file.left_out == {reason: 1} and file.incomplete
    assert [one.name for one in file.frames[0].detections] == ["table"]


@pytest.mark.parametrize(
    "text", ["", "  ", "{", "nothing", "[1, 2]", '{"a": 1}', '{"boxes": [[1,2,3,4]], "labels": []}', "3", "[" * 100_000]
)
def test_a_file_without_detections_says_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotDetections):
        read_detections(written(tmp_path, text))


def test_an_empty_list_is_a_picture_without_objects(tmp_path: Path) -> None:
    file = read_detections(written(tmp_path, "[]", "7.json"))
    assert matched(file, (), 10)[7][0].detections == []


def test_ten_thousand_detections_are_cut_to_the_best(tmp_path: Path) -> None:
    content = coco()
    content["annotations"] = [
        {"image_id": 5, "category_id": 3, "bbox": [4, 2, 16, 10], "score": k / 10_000} for k in range(10_000)
    ]
    file = read_detections(written(tmp_path, content))
    assert len(file.frames[0].detections) == MOST_PER_FRAME
    assert min(one.score for one in file.frames[0].detections) == (10_000 - MOST_PER_FRAME) / 10_000
    assert file.left_out == {f"beyond the best {MOST_PER_FRAME} of its frame": 10_000 - MOST_PER_FRAME}
    assert file.incomplete == {"chair"}


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("<b>Office</b> chair", "Office chair"), ("&lt;i&gt;cup&lt;/i&gt;", "cup"), ("стул", "стул"),
        ("  a\n\tb\x00", "a b"),
        ("椅子", "椅子"), ("<br>", ""), ("...", ""), ("chair < table", "chair < table"), (7, ""), (None, ""),
    ],
)  # fmt: skip
def test_names_lose_markup_and_keep_their_language(given: Any, plain: str) -> None:
    assert cleaned(given) == plain


def file_of(tmp_path: Path, *names: str) -> StatedFile:
    return read_detections(written(tmp_path, {name: coco_results()[:0] or [] for name in names}, "all.json"))


@pytest.mark.parametrize(
    ("names", "pictures", "count", "frames"),
    [
        (["room/IMG_7.JPG"], ["IMG_7.JPG", "IMG_8.JPG"], 2, [0]),
        (["IMG_8"], ["IMG_7.JPG", "IMG_8.JPG"], 2, [1]),
        (["8.json"], ["IMG_7.JPG", "IMG_08.JPG"], 2, [1]),
        (["8"], ["a_8.jpg", "b_8.jpg"], 2, []),  # which of the two
        (["0", "1"], ["left.jpg", "right.jpg"], 2, []),
        (["1.jpg", "2.jpg"], ["frame_000000.jpg", "frame_000010.jpg"], 2, []),
        (["IMG_2.jpg"], ["DSC0012.jpg", "DSC0034.jpg", "DSC0056.jpg"], 3, []),  # a photo of another camera
        (["IMG_12.jpg"], ["DSC0012.jpg", "DSC0034.jpg"], 2, []),
        (["IMG_0002.jpg", "IMG_0003.jpg"], [], 4, []),
        (["other.jpg"], ["left.jpg", "right.jpg"], 2, []),
        (["frame_0000.jpg", "frame_0003.jpg"], [], 4, [0, 3]),
        (["frame_0001.jpg", "frame_0004.jpg"], [], 4, [0, 3]),  # they count from 1, as ffmpeg does
        (["frame_0001.jpg", "frame_0009.jpg"], [], 4, [1]),
        (["last.jpg"], [], 4, []),
    ],
)
def test_frames_are_found_by_name_and_number(
    tmp_path: Path, names: list[str], pictures: list[str], count: int, frames: list[int]
) -> None:
    assert sorted(matched(file_of(tmp_path, *names), pictures, count)) == frames


def test_the_digest_follows_the_contents_and_the_names_beside_them(tmp_path: Path) -> None:
    path = written(tmp_path, coco())
    first = digest_of(path)
    assert digest_of(path.rename(tmp_path / "other.json")) == first
    written(tmp_path, "chair\n", "classes.txt")
    assert digest_of(tmp_path / "other.json") != first


def test_one_file_of_a_folder_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    written(tmp_path, labelme(), "frame_000012.json")
    written(tmp_path, "{", "frame_000013.json")
    file = read_detections(tmp_path)
    assert len(file.frames) == 1 and sum(file.left_out.values()) == 1 and file.incomplete == {"*"}


def test_every_example_of_the_page_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "detections.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in page.split("```json\n")[1:]]
    files = [read_detections(written(tmp_path, block, f"{number}.json")) for number, block in enumerate(blocks)]
    assert [file.format for file in files] == ["COCO", "labelme", "SAM", "Grounding DINO"]
    assert all(file.names and not file.left_out for file in files)
    line = next(line for line in page.splitlines() if line.startswith("    0 0."))
    written(tmp_path, "chair", "classes.txt")
    assert read_detections(written(tmp_path, line, "7.txt")).names == ["chair"]


def test_a_file_that_would_fill_the_memory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text(json.dumps(coco()))
    monkeypatch.setattr(reading, "MOST_BYTES", 10)
    with pytest.raises(NotDetections, match="split it"):
        read_detections(tmp_path / "a.json")


@pytest.mark.parametrize("nested", ["[" * 200_000, '{"annotations":' * 200_000])
def test_deep_nesting_is_an_error_in_words(tmp_path: Path, nested: str) -> None:
    (tmp_path / "a.json").write_text(nested)
    with pytest.raises(NotDetections, match="no JSON"):
        read_detections(tmp_path / "a.json")


@pytest.mark.parametrize("categories", [[{"id": [], "name": "chair"}], 7, [None, {"id": {}}]])
def test_odd_categories_name_nothing(tmp_path: Path, categories: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(coco() | {"categories": categories}))
    assert read_detections(tmp_path / "a.json").names in ((), [])
