import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.dataset import drawing
from templates.question import Drawing, Mark

GREY = np.full((480, 640, 3), 128, dtype=np.uint8)


def changed(image, base=GREY):
    return np.abs(np.asarray(image, dtype=int) - base).max(axis=-1) > 20


def test_a_ring_surrounds_the_point_and_leaves_it_visible():
    image = np.asarray(drawing.photo(GREY, [Mark(text="A", xy_px=(200.0, 300.0))]))
    marked = changed(image)
    ring = np.hypot(*(np.argwhere(marked & (np.hypot(*np.mgrid[-300:180, -200:440]) < 13)) - [300, 200]).T)
    assert 8 < ring.max() < 12.5
    ys, xs = np.nonzero(marked & (np.hypot(*np.mgrid[-300:180, -200:440]) < 13))
    assert abs(xs.mean() - 200) < 0.6 and abs(ys.mean() - 300) < 0.6
    assert (image[300, 200] > 200).all()  # a bright dot says exactly where
    gap = image[300, 204:206]
    assert np.abs(gap.astype(int) - 128).max() < 60


@pytest.mark.parametrize("ground", [0, 128, 255])
def test_marks_stand_out_on_any_ground(ground):
    picture = np.full((480, 640, 3), ground, dtype=np.uint8)
    image = np.asarray(drawing.photo(picture, [Mark(text="A", xy_px=(200.0, 300.0))]).convert("L"), dtype=int)
    ring = image[290:311, 190:211]
    assert np.abs(ring - ground).max() > 100
    assert ring.max() - ring.min() > 100  # dark beside bright: a halo of its own


@settings(max_examples=60, deadline=None)
@given(spots=st.lists(st.tuples(st.floats(0, 639), st.floats(0, 479)), min_size=1, max_size=8))
def test_labels_lie_inside_the_picture(spots):
    marks = [Mark(text="ABCDEFGH"[i], xy_px=spot) for i, spot in enumerate(spots)]
    for left, top, right, bottom in drawing._label_boxes(marks, spots, (640, 480), 1.0):
        assert left >= 0 and top >= 0 and right <= 640 and bottom <= 480


@settings(max_examples=40, deadline=None)
@given(angle=st.floats(0, 2 * np.pi), apart=st.floats(22, 60))
def test_labels_of_two_close_points_cover_neither_ring(angle, apart):
    spots = [(320.0, 240.0), (320 + apart * np.cos(angle), 240 + apart * np.sin(angle))]
    marks = [Mark(text="AB"[i], xy_px=spot) for i, spot in enumerate(spots)]
    boxes = drawing._label_boxes(marks, spots, (640, 480), 1.0)
    rings = [(x - 9, y - 9, x + 9, y + 9) for x, y in spots]
    assert drawing._overlap(*boxes) == 0
    assert all(drawing._overlap(box, ring) < 1 for box in boxes for ring in rings)


@pytest.mark.parametrize("size", [(2, 2), (641, 359), (4000, 3000)])
def test_sizes(size):
    picture = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    image = drawing.photo(picture, [Mark(text="A", xy_px=(size[0] / 2, size[1] / 2))])
    assert image.size == drawing.stored_size(*size) and max(image.size) <= drawing.MAX_SIDE_PX


def test_marks_shrink_with_the_picture():
    picture = np.full((2000, 2560, 3), 128, dtype=np.uint8)
    image = drawing.photo(picture, [Mark(text="A", xy_px=(1001.0, 501.0))])
    assert image.size == (1280, 1000)
    assert (np.asarray(image)[250, 500] > 200).all()


def test_equal_input_gives_equal_pixels():
    marks = [Mark(text="A", xy_px=(20.0, 30.0))]
    assert drawing.photo(GREY, marks).tobytes() == drawing.photo(GREY, marks).tobytes()


def ink(drawn):
    image = np.asarray(drawing.drawn_map(drawn), dtype=int)
    blue = (image[..., 2] > image[..., 0] + 60) & (image[..., 2] > 100)
    return np.argwhere(blue)[:, ::-1]


def test_y_is_up_and_aspect_is_kept():
    up = ink(Drawing(polylines=(((0.0, 0.0), (0.0, 1.0)),)))
    assert np.ptp(up[:, 1]) > 8 * np.ptp(up[:, 0])
    wide_end = up[np.abs(up[:, 0] - 319.5) > 10]  # the arrow head is the widest part, at the top
    assert wide_end[:, 1].mean() < 320
    ell = ink(Drawing(polylines=(((0.0, 0.0), (2.0, 0.0), (2.0, 1.0)),)))
    assert np.ptp(ell[:, 0]) > 1.6 * np.ptp(ell[:, 1])


def test_shift_and_scale_do_not_show():
    path = np.array([[0, 0], [1, 2], [3, 1.0]])
    as_drawing = lambda xy: Drawing(polylines=(tuple(map(tuple, xy.tolist())),))  # noqa: E731
    first, second = (drawing.drawn_map(as_drawing(xy)).tobytes() for xy in (path, 4 * path + 8))
    assert first == second


@pytest.mark.parametrize("polylines", [(), (((1.0, 1.0),),), (((1.0, 1.0), (1.0, 1.0)),)])
def test_degenerate_drawings(polylines):
    assert drawing.drawn_map(Drawing(polylines=polylines)).size == (640, 640)


def test_landmarks_are_labelled():
    plain = Drawing(polylines=(((0.0, 0.0), (1.0, 1.0)),))
    labelled = Drawing(polylines=plain.polylines, points=(Mark(text="A", xy_px=(0.5, 0.0)),))
    assert drawing.drawn_map(plain).tobytes() != drawing.drawn_map(labelled).tobytes()
