import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatial_engine.scoring.boxes import OrientedBox, intersection_volume, iou_2d, iou_3d


def box(centre=(0, 0, 0), size=(1, 1, 1), rotvec=(0, 0, 0)):
    rotation = Rotation.from_rotvec(rotvec).as_matrix()
    return OrientedBox(centre=np.array(centre, dtype=float), size=np.array(size, dtype=float), world_from_box=rotation)


def some_box(rng):
    return box(rng.normal(size=3) * 0.5, rng.uniform(0.2, 2, 3), rng.normal(size=3) * 2)


def test_flat_boxes():
    assert iou_2d([0, 0, 2, 2], [1, 1, 3, 3]) == pytest.approx(1 / 7)
    assert iou_2d([0, 0, 1, 1], [1, 0, 2, 1]) == 0 and iou_2d([0, 0, 0, 0], [0, 0, 0, 0]) == 0
    assert iou_2d([2, 2, 0, 0], [0, 0, 2, 2]) == 0


def test_known_volumes():
    assert iou_3d(box(), box((0.5, 0, 0))) == pytest.approx(1 / 3, abs=1e-12)
    octagon = 2 * (2**0.5 - 1)
    assert iou_3d(box(), box(rotvec=(0, 0, np.pi / 4))) == pytest.approx(octagon / (2 - octagon), abs=1e-12)
    assert iou_3d(box(), box(size=(0.5, 0.5, 0.5), rotvec=(0.3, 0.2, 0.1))) == pytest.approx(1 / 8, abs=1e-12)
    assert iou_3d(box(), box((1, 0, 0))) == iou_3d(box(), box((5, 0, 0))) == 0


@pytest.mark.parametrize("scale", (1e-6, 1.0, 1e6))
def test_units_and_places_do_not_matter(scale):
    rng = np.random.default_rng(1)
    for _ in range(4):
        a, b = some_box(rng), some_box(rng)
        expected = iou_3d(a, b)
        far = 50 * scale
        moved = [
            box(scale * part.centre + far, scale * part.size, Rotation.from_matrix(part.world_from_box).as_rotvec())
            for part in (a, b)
        ]
        assert iou_3d(*moved) == pytest.approx(expected, abs=1e-7)
        assert iou_3d(b, a) == pytest.approx(expected, abs=1e-9) and iou_3d(a, a) == pytest.approx(1.0)


def test_volumes_agree_with_points_thrown_at_random():
    rng = np.random.default_rng(2)
    for _ in range(3):
        a, b = some_box(rng), some_box(rng)
        thrown = rng.uniform(-0.5, 0.5, (40_000, 3)) * a.size @ a.world_from_box.T + a.centre
        planes = b.half_spaces()
        share = np.all(thrown @ planes[:, :3].T + planes[:, 3] <= 0, axis=1).mean()
        assert intersection_volume(a, b) / a.volume == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("bad", (box(size=(1, 0, 1)), box((np.nan, 0, 0)), box(size=(-1, 1, 1))))
def test_boxes_without_volume(bad):
    with pytest.raises(ValueError, match="positive edges"):
        iou_3d(box(), bad)
