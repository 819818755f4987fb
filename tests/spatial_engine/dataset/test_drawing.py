from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from spatial_engine.dataset import drawing
from templates.media import Drawing, Grid, Line, Mark, Polygon, ScaleBar, Sheet, Words

ROOM = ((0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (0.0, 3.0))
PATH = ((0.0, 0.0), (1.0, 2.0), (3.0, 1.0))


def colours(image):
    return set(map(tuple, np.asarray(image).reshape(-1, 3).tolist()))


def ink(drawn):
    image = drawing.drawn_map(drawn).astype(int)
    return np.argwhere((image[..., 2] > image[..., 0] + 60) & (image[..., 2] > 100))[:, ::-1]


def test_y_is_up_and_aspect_is_kept():
    up = ink(Drawing(polylines=(((0.0, 0.0), (0.0, 1.0)),)))
    assert np.ptp(up[:, 1]) > 8 * np.ptp(up[:, 0])
    wide_end = up[np.abs(up[:, 0] - 319.5) > 10]  # the arrow head is the widest part, at the top
    assert wide_end[:, 1].mean() < 320
    ell = ink(Drawing(polylines=(((0.0, 0.0), (2.0, 0.0), (2.0, 1.0)),)))
    assert np.ptp(ell[:, 0]) > 1.6 * np.ptp(ell[:, 1])


def test_shift_and_scale_do_not_show():
    as_drawing = lambda xy: Drawing(polylines=(tuple(map(tuple, xy.tolist())),))  # noqa: E731
    first, second = (drawing.drawn_map(as_drawing(xy)) for xy in (np.array(PATH), 4 * np.array(PATH) + 8))
    assert (first == second).all()


@pytest.mark.parametrize("polylines", [(), (((1.0, 1.0),),), (((1.0, 1.0), (1.0, 1.0)),)])
def test_degenerate_drawings(polylines):
    assert drawing.drawn_map(Drawing(polylines=polylines)).shape == (640, 640, 3)


FULL = Drawing(
    polylines=(PATH,),
    points=(Mark(text="A", xy_px=(3.5, 2.5)),),
    polygons=(Polygon(corners=ROOM, text="hall", fill="green"),),
    lines=(Line(points=((1.5, 0.2), (2.5, 0.6))),),
    grid=Grid(left_top=(0.0, 3.0), cell=1.0, columns=4, rows=3),
    scale_bar=ScaleBar(length=1.0, text="1 m"),
)


@cache
def full(side_px):
    return drawing.drawn_map(FULL, side_px).astype(int)


@pytest.mark.parametrize("part", ["polylines", "points", "polygons", "lines", "grid", "scale_bar"])
@pytest.mark.parametrize("side_px", [160, 640, 1920])
def test_every_part_of_a_map_shows_at_every_size(part, side_px):
    empty = getattr(Drawing(), part)
    without = drawing.drawn_map(replace(FULL, **{part: empty}), side_px)
    changed = np.abs(full(side_px) - without).max(axis=2) > 100
    assert changed.sum() > 0.0005 * side_px**2


def test_rooms_lie_below_paths_and_their_names_beside_them():
    room = Polygon(corners=((0, 0), (4, 0), (4, 3), (0, 3)), fill="orange")
    path = (((0.5, 1.5), (3.5, 1.5)),)
    unnamed, named = (
        drawing.drawn_map(Drawing(polygons=(replace(room, text=text),), polylines=path)) for text in ("", "hall")
    )
    blue = (0, 98, 178)
    assert (unnamed == blue).all(axis=2).sum() == (named == blue).all(axis=2).sum() > 2000
    assert (unnamed != named).any(axis=2).sum() > 200


def test_the_name_of_a_covered_room_is_written_on_its_middle():
    room = Polygon(corners=((0, 0), (4, 0), (4, 3), (0, 3)))
    thin = Polygon(corners=((3, 1), (3.2, 1), (3.2, 2), (3, 2)))
    unnamed, named = (
        drawing.drawn_map(Drawing(polygons=(room, replace(thin, text=text), thin))) for text in ("", "shelf")
    )
    y, x = np.nonzero((unnamed != named).any(axis=2))
    assert (x.mean(), y.mean()) == pytest.approx((72 + 496 * 3.1 / 4, 320), abs=6)


def test_labels_of_points_cover_no_path():
    path = tuple((0.1 * k, float(np.sin(0.5 * k))) for k in range(30))
    point = Mark(text="A", xy_px=(1.5, 0.6))
    plain = drawing.drawn_map(Drawing(polylines=(path,)))
    labelled = drawing.drawn_map(Drawing(polylines=(path,), points=(point,)))
    blue = (0, 98, 178)
    assert (labelled == blue).all(axis=2).sum() == (plain == blue).all(axis=2).sum()


def test_a_scale_bar_is_as_long_as_it_says():
    walls = (Line(points=((0.0, 0.0), (4.0, 0.0)), colour="blue"),)
    image = drawing.drawn_map(Drawing(lines=walls, scale_bar=ScaleBar(length=2.0, text="2 m")))
    wall = np.ptp(np.argwhere((image == (0, 98, 178)).all(axis=2))[:, 1])
    bar = np.ptp(np.argwhere((image[600:636] == (13, 17, 23)).all(axis=2))[:, 1])
    assert bar == pytest.approx(wall / 2, abs=6)


def test_a_long_scale_bar_fits():
    image = drawing.drawn_map(Drawing(polylines=(PATH,), scale_bar=ScaleBar(length=10.0, text="10 m")))
    bar = np.argwhere((image[600:636] == (13, 17, 23)).all(axis=2))[:, 1]
    assert bar.min() > 0 and bar.max() < 560


def test_sheets_with_one_extent_have_one_scale():
    square = lambda side: Polygon(corners=((0, 0), (side, 0), (side, side), (0, side)), fill="blue")  # noqa: E731
    areas = [
        (drawing.drawn_sheet(Sheet(polygons=(square(side),), extent=(0, 0, 4, 2))) == (168, 206, 238)).all(axis=2).sum()
        for side in (1, 2)
    ]
    assert areas[1] == pytest.approx(4 * areas[0], rel=0.1)


SHEET = Sheet(
    polygons=(Polygon(corners=((0, 0), (2, 0), (2, 2), (0, 2)), text="1", fill="purple"),),
    lines=(Line(points=((0.0, 1.0), (4.0, 1.0)), dashed=True),),
    texts=(Words(text="fold", xy=(3.0, 1.5)),),
)


@pytest.mark.parametrize("part", ["polygons", "lines", "texts"])
@pytest.mark.parametrize("side_px", [160, 640, 1920])
def test_every_part_of_a_sheet_shows_at_every_size(part, side_px):
    sheet = replace(SHEET, extent=(0, 0, 4, 2), side_px=side_px)
    image = drawing.drawn_sheet(sheet)
    assert image.shape[1::-1] == drawing.sheet_size(sheet) and max(image.shape) == side_px
    without = drawing.drawn_sheet(replace(sheet, **{part: ()}))
    assert (np.abs(image.astype(int) - without).max(axis=2) > 60).sum() > 0.0004 * side_px**2


def test_dashes_leave_gaps():
    full, dashed = (
        (drawing.drawn_sheet(Sheet(lines=(Line(points=((0, 0), (4, 0)), dashed=dashes),))) < 100).all(axis=2).sum()
        for dashes in (False, True)
    )
    assert 0.3 * full < dashed < 0.85 * full


def test_the_palette_keeps_the_colours():
    image = drawing.drawn_map(FULL)
    stored = np.asarray(drawing.with_palette(image).convert("RGB"))
    plain = [(255, 255, 255), (13, 17, 23), (0, 98, 178), (160, 216, 196), (255, 196, 0)]
    for colour in plain:
        at = (image == colour).all(axis=2)
        assert at.any() and (stored[at] == colour).all()
    assert np.abs(stored.astype(int) - image).mean() < 0.5
    assert len(colours(stored)) <= 256
