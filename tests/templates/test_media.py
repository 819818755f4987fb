import pytest

from templates.media import Arrow, Box, Grid, Line, Outline, Photo, Polygon, Segment, Video

XY = (1.0, 2.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(points_px=(XY,)), "Box.points_px has 1 points; allowed: 2"),
        (lambda: Segment(points_px=(XY,) * 3), "Segment.points_px has 3 points; allowed: 2"),
        (lambda: Arrow(points_px=(XY, (float("nan"), 0.0))), "Arrow.points_px holds .nan, 0.0.; allowed: finite"),
        (lambda: Outline(points_px=(XY, XY)), "Outline.points_px has 2 points; allowed: 3 or more"),
        (lambda: Line(points=(XY,)), "Line.points has 1 points; allowed: 2 or more"),
        (lambda: Polygon(corners=(XY, XY)), "Polygon.corners has 2 points; allowed: 3 or more"),
        (lambda: Photo(frame=3, crop_px=(10, 0, 10, 5)), "Photo.crop_px is .10, 0, 10, 5.; allowed: 0 <= left < right"),
        (lambda: Video(frames=(1, 2, 3)), "Video.frames has 3 frames; allowed: 8 to 64"),
        (lambda: Video(frames=(*range(7), 3)), "must ascend"),
        (lambda: Grid(left_top=XY, cell=1.0, columns=27, rows=3), "Grid has 27 columns"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_can(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_place_of_a_shape_is_its_middle():
    assert Box(points_px=((0.0, 0.0), (4.0, 2.0))).xy_px == (2.0, 1.0)
    assert Outline(points_px=((0.0, 0.0), (3.0, 0.0), (0.0, 3.0))).xy_px == (1.0, 1.0)
