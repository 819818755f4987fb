import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.dataset import photo_marks
from spatial_engine.dataset.labels import Label, place_labels
from templates.media import Arrow, Box, Mark, Outline, Segment

WIDTHS, GROUNDS = (160, 640, 1280), ("black", "white", "noise")


def ground(kind, width, height):
    if kind == "noise":
        return np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return np.full((height, width, 3), {"black": 0, "grey": 128, "white": 255}[kind], dtype=np.uint8)


GREY = ground("grey", 640, 480)


def marks(width, text="A"):
    """One mark of each shape, in the middle of a picture of this width."""
    at = lambda *xy: tuple((x * width, y * width) for x, y in xy)  # noqa: E731
    around = at(*((0.5 + 0.2 * np.cos(t), 0.35 + 0.15 * np.sin(t)) for t in np.arange(0, 6.2, 0.3)))
    return {
        "point": Mark(text=text or "A", xy_px=at((0.5, 0.35))[0]),
        "box": Box(text=text, points_px=at((0.3, 0.2), (0.7, 0.5))),
        "outline": Outline(text=text, points_px=around),
        "segment": Segment(text=text, points_px=at((0.3, 0.25), (0.7, 0.45))),
        "arrow": Arrow(text=text, points_px=at((0.3, 0.45), (0.7, 0.25))),
    }


def difference(image, base):
    return np.abs(image.astype(int) - base).max(axis=-1)


every = pytest.mark.parametrize("shape", ["point", "box", "outline", "segment", "arrow"])


@every
@pytest.mark.parametrize("kind", GROUNDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_mark_stands_out_on_any_ground_at_any_size(shape, kind, width):
    base = ground(kind, width, width * 3 // 4)
    mark = marks(width, text="")[shape]
    image = photo_marks.marked(base, [mark])
    drawn = difference(image, base) > 0
    assert drawn.sum() > 60
    inked = image[drawn].astype(int)
    amber = (inked[:, 0] > 200) & (inked[:, 1] > 150) & (inked[:, 2] < 90)
    dark = inked.max(axis=1) < 60
    assert amber.mean() > 0.15
    assert dark.mean() > 0.15 or kind == "black"  # dark beside amber: an edge of its own


@every
@pytest.mark.parametrize("width", WIDTHS)
def test_marks_do_not_cover_what_they_mark(shape, width):
    base = ground("noise", width, width * 3 // 4)
    mark = marks(width)[shape]
    changed = difference(photo_marks.marked(base, [mark]), base) > 0
    if shape == "point":
        x, y = map(round, mark.xy_px)
        assert not changed[y - 2 : y + 3, x - 2 : x + 3].any()
    elif shape == "box":
        (left, top), (right, bottom) = np.round(mark.points_px).astype(int)
        assert not changed[top + 1 : bottom, left + 1 : right].any()
    elif shape == "outline":
        y, x = np.mgrid[: changed.shape[0], : changed.shape[1]]
        inside = np.hypot((x - 0.5 * width) / 0.19 / width, (y - 0.35 * width) / 0.14 / width) < 1
        assert not changed[inside].any()
    elif shape == "arrow":
        x, y = map(round, mark.points_px[1])
        assert not changed[y, x]


def test_a_ring_surrounds_its_point():
    amber = photo_marks.marked(GREY, [Mark(text="A", xy_px=(200.4, 300.0))])[285:316, 185:216, 0].astype(float) - 128
    amber[(amber < 0) | (np.hypot(*np.mgrid[-15:16, -15:16]) > 9.5)] = 0
    x, y = (np.average(np.arange(31), weights=amber.sum(axis=axis)) for axis in (0, 1))
    assert abs(x - 15.4) < 0.3 and abs(y - 15) < 0.3


def test_an_arrow_points_to_its_second_point():
    (start, end), image = ((100, 100), (300, 100)), photo_marks.marked(
        GREY, [Arrow(points_px=((100.0, 100.0), (300.0, 100.0)))]
    )  # fmt: skip
    changed = difference(image, GREY) > 20
    height = lambda x: changed[:, x - 20 : x + 20].any(axis=1).sum()  # noqa: E731
    assert height(end[0]) > 2 * height(start[0])


def test_a_box_larger_than_the_picture_is_drawn_along_its_border():
    image = photo_marks.marked(GREY, [Box(points_px=((-50.0, -50.0), (900.0, 200.0)))])
    changed = difference(image, GREY) > 20
    assert changed[:3, 100].any() and changed[100, :3].any() and not changed[100, 50:600].any()


@pytest.mark.parametrize("shape", ["box", "outline"])
def test_shapes_off_the_picture_or_without_area_do_no_harm(shape):
    kind = {"box": Box, "outline": Outline}[shape]
    corners = ((-90.0, -90.0), (-80.0, -70.0)) + (((-85.0, -60.0),) if shape == "outline" else ())
    assert photo_marks.marked(GREY, [kind(points_px=corners)]).shape == GREY.shape
    point = ((200.0, 100.0),) * len(corners)
    assert difference(photo_marks.marked(GREY, [kind(points_px=point)]), GREY).max() > 100


@settings(max_examples=60, deadline=None)
@given(spots=st.lists(st.tuples(st.floats(0, 639), st.floats(0, 479)), min_size=1, max_size=8))
def test_labels_lie_inside_the_picture(spots):
    labels = [Label("ABCDEFGH"[i], [spot]) for i, spot in enumerate(spots)]
    for left, top, right, bottom in place_labels(labels, np.zeros((480, 640), dtype=np.uint8), 1.0):
        assert left >= 0 and top >= 0 and right <= 640 and bottom <= 480


def test_the_label_of_a_box_around_another_stands_off_it():
    """A kettle at the left end of a desk: above the left corner of the desk, "1" would seem to name the kettle."""
    desk, kettle = ((200.0, 200.0), (420.0, 380.0)), ((210.0, 205.0), (240.0, 250.0))
    both = photo_marks.marked(GREY, [Box(text="1", points_px=desk), Box(text="2", points_px=kettle)])
    lines = photo_marks.marked(GREY, [Box(text="", points_px=desk), Box(text="", points_px=kettle)])
    x = np.nonzero(difference(both, lines).max(axis=0) > 20)[0]
    (first, last), (third, fourth) = (x[x < 320].min(), x[x < 320].max()), (x[x > 320].min(), x[x > 320].max())
    assert abs((first + last) / 2 - 225) < 60  # at the kettle
    assert abs((third + fourth) / 2 - 420) < 60  # at the right end of the desk


@settings(max_examples=40, deadline=None)
@given(lean=st.floats(0, 2 * np.pi), turn=st.floats(0.35, 3))
def test_the_label_of_an_arrow_stands_nearer_to_its_tip_than_to_any_other(lean, turn):
    """Of two arrows from one point, 20 degrees apart or more."""
    ways = np.array([(np.cos(angle), np.sin(angle)) for angle in (lean, lean + turn)])
    tips = (320, 240) + 96 * ways
    labels = [Label(text, [tip], tuple(way)) for text, tip, way in zip("12", tips, ways, strict=True)]
    boxes = np.array(place_labels(labels, np.zeros((480, 640), dtype=np.uint8), 1.0)).reshape(2, 2, 2)
    away = np.linalg.norm(boxes.mean(axis=1)[:, None] - tips, axis=2)
    assert away.argmin(axis=1).tolist() == [0, 1]


@settings(max_examples=40, deadline=None)
@given(angle=st.floats(0, 2 * np.pi), apart=st.floats(22, 60))
def test_labels_of_two_close_points_cover_neither_ring(angle, apart):
    spots = [(320.0, 240.0), (320 + apart * np.cos(angle), 240 + apart * np.sin(angle))]
    both = [Mark(text="AB"[i], xy_px=spot) for i, spot in enumerate(spots)]
    with_letters = photo_marks.marked(GREY, both)
    assert (difference(with_letters, GREY) > 20).sum() > 1200  # both labels are drawn, beside each other
    for x, y in spots:
        ring = np.s_[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4]
        assert difference(with_letters[ring], GREY[ring]).max() < 40


@every
@pytest.mark.parametrize("width", WIDTHS)
def test_labels_cover_no_line_and_nothing_inside(shape, width):
    base = ground("grey", width, width * 3 // 4)
    plain = photo_marks.marked(base, [marks(width, text="")[shape]])
    lettered = photo_marks.marked(base, [marks(width)[shape]])
    label = difference(lettered, plain) > 0
    assert label.any() == (shape != "point")  # points always have a letter
    assert not (label & (difference(plain, base) > 60)).any()


@pytest.mark.parametrize("size", [(2, 2), (641, 359), (4000, 3000)])
def test_sizes(size):
    picture = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    stored = photo_marks.scaled(picture, photo_marks.stored_size(*size))
    assert max(stored.shape[:2]) <= photo_marks.MAX_SIDE_PX
    assert photo_marks.marked(stored, [Mark(text="A", xy_px=(0.0, 0.0))]).shape == stored.shape


def test_marks_move_with_the_scale_and_the_crop():
    base = np.full((200, 300, 3), 128, dtype=np.uint8)
    here = photo_marks.marked(base, [Mark(text="A", xy_px=(100.0, 60.0))])
    moved = photo_marks.marked(base, [Mark(text="A", xy_px=(140.0, 80.0))], origin=(40, 20))
    larger = photo_marks.marked(base, [Mark(text="A", xy_px=(200.5, 120.5))], (0.5, 0.5))
    assert (here == moved).all() and (here == larger).all()


def test_the_picture_itself_is_left_alone_and_equal_input_gives_equal_pixels():
    before = GREY.copy()
    images = [photo_marks.marked(GREY, list(marks(640).values())) for _ in range(2)]
    assert (images[0] == images[1]).all() and (before == GREY).all()


def test_the_letters_of_lines_that_cross_stand_where_the_lines_are_apart():
    picture = np.full((480, 640, 3), 128, dtype=np.uint8)
    ends = {"1": ((100.0, 100.0), (500.0, 300.0)), "2": ((100.0, 300.0), (500.0, 100.0))}
    both = photo_marks.marked(picture, [Segment(text=text, points_px=line) for text, line in ends.items()])
    bare = photo_marks.marked(picture, [Segment(points_px=line) for line in ends.values()])
    y, x = np.nonzero((both != bare).any(axis=2))
    assert len(x) and np.hypot(x - 300, y - 200).min() > 150
