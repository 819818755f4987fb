"""Objects on the page of a clip, made from a rendered room."""

import shutil
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from experts.signals import Objects
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.rendering import as_clip
from spatial_engine.report import report
from spatial_engine.report.objects import _legible, marked_frames, object_rows, plan_picture
from spatial_engine.store.store import Store
from templates.media import Box, Drawing, Outline, Polygon
from templates.scene.scene import Scene
from tests.spatial_engine.rendered_store import all_signals, rendered_store, short_demo

RENDERED = short_demo(9)


SIGNALS = cache(lambda: all_signals(RENDERED, as_clip(RENDERED), 4))


def scene(**changes: Any) -> Scene:
    """`changes`: of the objects."""
    clip, signals = as_clip(RENDERED), SIGNALS()
    return Scene(clip=clip, signals=signals | {"objects": replace(signals["objects"], **changes)})


def area(xy: np.ndarray) -> float:
    x, y = xy.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def test_masks_are_outlined_and_named() -> None:
    found = scene()
    objects = found.objects
    assert isinstance(objects, Objects)
    frames = marked_frames(found)
    assert list(frames) == [0, 4, 8]
    for frame, marked in frames.items():
        ids = objects.ids[frame // 4]
        assert marked.count == len(np.unique(ids[ids >= 0])) and len(marked.names) == min(12, marked.count)
        for outline, name in zip(marked.outlines, marked.names, strict=True):
            x, y = np.round(name.xy_px).astype(int)
            k = ids[y, x]
            label = {"bookcase": "bookshelf"}.get(objects.labels[k], objects.labels[k])
            assert name.text == f"{label} {objects.outlier_probability[k]:.2f}"
            assert isinstance(outline, Outline)
            if objects.labels[k] == "crate":
                assert area(np.array(outline.points_px)) == pytest.approx((ids == k).sum(), rel=0.2)


def test_ground_truth_has_no_outlier_probability() -> None:
    marked = marked_frames(scene(outlier_probability=None))[0]
    assert "crate" in {name.text for name in marked.names}
    count = len(scene().objects.labels)
    unknown = marked_frames(scene(outlier_probability=np.full(count, np.nan)))[0]
    assert unknown.names == marked.names


def test_without_masks_boxes_are_outlined() -> None:
    nothing = np.full((3, 1, 1), -1, dtype=np.int32)
    silhouettes = marked_frames(scene(ids=nothing))[4]
    assert silhouettes.outlines and all(isinstance(outline, Outline) for outline in silhouettes.outlines)
    masked = {
        name.text: outline
        for name, outline in zip(marked_frames(scene())[4].names, marked_frames(scene())[4].outlines, strict=True)
    }
    boxed = {name.text: outline for name, outline in zip(silhouettes.names, silhouettes.outlines, strict=True)}
    (crate,) = [text for text in boxed if text.startswith("crate")]
    assert np.array(boxed[crate].xy_px) == pytest.approx(masked[crate].xy_px, abs=8)

    detected = np.full((3, len(scene().objects.labels), 2, 2), np.nan)
    detected[0, 2] = [[10.0, 20.0], [60.0, 80.0]]
    marked = marked_frames(scene(ids=nothing, box_px=detected))
    assert marked[0].outlines == (Box(points_px=((10.0, 20.0), (60.0, 80.0))),)
    assert list(marked) == [0]


def test_the_list_has_sizes_and_outlier_probabilities() -> None:
    found = scene()
    rows = object_rows(found)
    assert [row.frames for row in rows] == sorted((row.frames for row in rows), reverse=True)
    k = found.objects.labels.index("bookcase")
    (row,) = [row for row in rows if row.label == "bookcase"]
    assert row.name == "bookshelf" and row.size == "1.25 × 0.34 × 2.00 m" and row.centre_sigma == "0.02 m"
    assert row.outlier_probability == f"{found.objects.outlier_probability[k]:.2f}"
    unknown = object_rows(scene(size=None, centre_sigma=None, outlier_probability=None))[0]
    assert (unknown.size, unknown.centre_sigma, unknown.outlier_probability) == ("", "", "")


def test_names_on_the_plan_do_not_cover_each_other() -> None:
    def square(x: float, side: float, text: str) -> Polygon:
        return Polygon(corners=((x, 0), (x + side, 0), (x + side, side), (x, side)), text=text)

    plan = Drawing(polygons=(square(0, 9, ""), square(1, 4, "table"), square(1.5, 3.4, "tray"), square(7, 2, "chair")))
    assert [polygon.text for polygon in _legible(plan).polygons] == ["", "table", "", "chair"]
    assert plan_picture(scene(), 240).shape == (240, 240, 3)
    assert plan_picture(Scene(clip=scene().clip), 240) is None


def page(store: Store, folder: Path) -> tuple[str, Path]:
    dataset = write_dataset(folder / "dataset", [], lambda _: None, seed=0)
    first = report(dataset, folder / "report", store=store)
    (clip_page,) = (first.parent / "clips").glob("*.html")
    return clip_page.read_text(encoding="utf-8"), first.parent / "pictures"


def test_the_page_shows_objects_and_plan(tmp_path: Path) -> None:
    store, clip = rendered_store(tmp_path, RENDERED)
    objects = store.signals(clip)["objects"]
    labels = ("<b>evil</b>", *objects.labels[1:])
    store.write(clip, "objects", "k" * 16, replace(objects, labels=labels))
    text, pictures = page(store, tmp_path)
    assert "<b>evil</b>" not in text and "<b>evil</b>" in unescape(text)
    marked, plain = (np.asarray(Image.open(pictures / f"{clip}-0{end}.jpg")).astype(int) for end in ("-objects", ""))
    assert marked.shape == plain.shape and np.mean(np.abs(marked - plain).max(axis=2) > 60) > 0.05
    assert f"pictures/{clip}-plan.png" in text and (pictures / f"{clip}-plan.png").is_file()
    assert "frame 4: " in text and "its outlier probability" in text and "Floor plan" in text
    assert "4 of 4 walls seen" in text and "the front of " in text


def test_objects_are_listed_where_pictures_are_gone(tmp_path: Path) -> None:
    store, _ = rendered_store(tmp_path, RENDERED, room=None)
    shutil.rmtree(tmp_path / "room")
    text, pictures = page(store, tmp_path)
    assert "-objects.jpg" not in text and not list(pictures.glob("*-objects.jpg"))
    assert "bookshelf" in text and "Floor plan" not in text
