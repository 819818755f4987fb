"""Conversion of the output of detectors and segmenters to our pixels."""

import numpy as np
import pytest

from experts.objects.detections import (
    Detections,
    DetectionSettings,
    assign_pixels,
    boxes_at,
    label_scores,
    mask_matches_box,
    masks_at,
    non_maximum_suppression,
    select_boxes,
)

SETTINGS = DetectionSettings()


def shares(left: float, top: float, right: float, bottom: float, width: float, height: float) -> list[float]:
    """Upstream's box of edges in pixels counted from the picture's own edge."""
    return [(left + right) / 2 / width, (top + bottom) / 2 / height, (right - left) / width, (bottom - top) / height]


def scores_of(*best: float, names: int = 3) -> np.ndarray:
    out = np.full((len(best), names), 0.01, dtype=np.float32)
    out[:, 1] = best
    return out


def found(*boxes: list[float], label: list[int] | None = None) -> Detections:
    return Detections(
        boxes_px=np.array(boxes, dtype=np.float64).reshape(-1, 4),
        scores=np.linspace(0.9, 0.5, len(boxes), dtype=np.float32),
        label=np.array(label or [0] * len(boxes), dtype=np.int64),
    )


def block(height: int, width: int, rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((height, width), dtype=bool)
    mask[rows, columns] = True
    return mask


def test_a_box_of_columns_10_to_19_has_edges_between_pixels() -> None:
    boxes = np.array([shares(10, 20, 20, 50, 200, 100)], dtype=np.float32)
    one = select_boxes(boxes, scores_of(0.8), (100, 200), SETTINGS)
    np.testing.assert_allclose(one.boxes_px, [[9.5, 19.5, 19.5, 49.5]], atol=1e-4)
    assert one.label.tolist() == [1] and one.scores == pytest.approx([0.8])


def test_owlv2_counts_shares_of_the_padded_square() -> None:
    boxes = np.array([shares(10, 20, 20, 50, 200, 200)], dtype=np.float32)
    one = select_boxes(boxes, scores_of(0.8), (100, 200), SETTINGS, padded_to_square=True)
    np.testing.assert_allclose(one.boxes_px, [[9.5, 19.5, 19.5, 49.5]], atol=1e-4)
    below = np.array([shares(10, 90, 20, 150, 200, 200)], dtype=np.float32)
    one = select_boxes(below, scores_of(0.8), (100, 200), SETTINGS, padded_to_square=True)
    np.testing.assert_allclose(one.boxes_px, [[9.5, 89.5, 19.5, 99.5]], atol=1e-4)  # cut at the picture


def test_the_score_of_a_name_is_that_of_its_best_token_without_padding() -> None:
    logits = np.full((1, 8), -np.inf, dtype=np.float32)
    logits[0, [1, 3, 4]] = [np.log(0.2 / 0.8), np.log(0.6 / 0.4), -3]
    np.testing.assert_allclose(label_scores(logits, [(1, 2), (3, 5), (6, 7)]), [[0.2, 0.6, 0.0]], atol=1e-6)


def test_nan_and_low_scores_are_no_detections() -> None:
    boxes = np.array([shares(10, 20, 50, 60, 200, 100)] * 4, dtype=np.float32)
    scores = scores_of(0.9, 0.9, 0.1, 0.9)
    boxes[0, 2], scores[1, 2] = np.nan, np.nan
    kept = select_boxes(boxes, scores, (100, 200), SETTINGS)
    assert len(kept.scores) == 1
    logits = np.zeros((1, 4), dtype=np.float32)
    logits[0, 2] = np.nan
    assert np.isnan(label_scores(logits, [(1, 2), (2, 4)])[0, 1])


def test_no_detections_give_empty_results() -> None:
    none = select_boxes(np.zeros((0, 4), np.float32), np.zeros((0, 3), np.float32), (100, 200), SETTINGS)
    assert none.boxes_px.shape == (0, 4)
    empty = assign_pixels(none, np.zeros((0, 50, 100), dtype=bool), np.zeros(0), (100, 200), SETTINGS)
    assert empty.ids.shape == (50, 100) and (empty.ids == -1).all()


def test_of_overlapping_boxes_of_one_name_the_best_is_kept() -> None:
    three = found([0, 0, 100, 100], [5, 0, 105, 100], [200, 0, 300, 100])
    assert non_maximum_suppression(three, 0.6).tolist() == [0, 2]
    assert non_maximum_suppression(found([0, 0, 100, 100], [5, 0, 105, 100], label=[0, 1]), 0.6).tolist() == [0, 1]


def test_edges_are_converted_when_a_picture_is_resampled() -> None:
    np.testing.assert_allclose(
        boxes_at(np.array([[9.5, 19.5, 19.5, 49.5]]), (100, 200), (50, 50)), [[2, 9.5, 4.5, 24.5]]
    )


@pytest.mark.parametrize("size", [(96, 128), (48, 64), (192, 256)])
def test_mask_logits_lie_over_the_whole_picture(size: tuple[int, int]) -> None:
    logits = np.full((1, 48, 64), -5, dtype=np.float32)
    logits[0, 12:24, 16:48] = 5
    mask = masks_at(logits, size)[0]
    factor = size[0] / 48
    row, column = np.nonzero(mask)
    assert row.min() == 12 * factor and row.max() + 1 == 24 * factor
    assert column.min() == 16 * factor and column.max() + 1 == 48 * factor
    logits[0, 12:24, 16:32] = np.nan
    assert not masks_at(logits, size)[0, :, : int(30 * factor)].any()


def test_masks_that_do_not_agree_with_their_box_are_refused() -> None:
    box = np.array([9.5, 9.5, 49.5, 39.5])
    assert mask_matches_box(block(60, 80, slice(10, 40), slice(10, 50)), box, SETTINGS)
    assert not mask_matches_box(block(60, 80, slice(10, 40), slice(10, 20)), box, SETTINGS)  # a quarter of its width
    assert not mask_matches_box(block(60, 80, slice(0, 60), slice(0, 80)), box, SETTINGS)
    assert not mask_matches_box(np.zeros((60, 80), dtype=bool), box, SETTINGS)
    corners = block(60, 80, slice(10, 11), slice(10, 50)) | block(60, 80, slice(10, 40), slice(10, 11))
    assert not mask_matches_box(corners, box, SETTINGS)  # fills almost nothing


def test_a_shared_pixel_belongs_to_the_smaller_object() -> None:
    two = found([9.5, 9.5, 49.5, 39.5], [19.5, 19.5, 29.5, 29.5], label=[0, 1])
    masks = np.stack([block(60, 80, slice(10, 40), slice(10, 50)), block(60, 80, slice(20, 30), slice(20, 30))])
    both = assign_pixels(two, masks, np.array([0.9, 0.9]), (60, 80), SETTINGS)
    assert both.ids[25, 25] == 1 and both.ids[12, 12] == 0 and both.ids[0, 0] == -1


def test_of_two_names_of_one_object_the_better_is_kept() -> None:
    two = found([9.5, 9.5, 49.5, 39.5], [9.5, 9.5, 48.5, 39.5], label=[0, 1])
    masks = np.stack([block(60, 80, slice(10, 40), slice(10, 50)), block(60, 80, slice(10, 40), slice(10, 49))])
    one = assign_pixels(two, masks, np.array([0.9, 0.9]), (60, 80), SETTINGS)
    assert one.detections.label.tolist() == [0]
    unsure = assign_pixels(two, masks, np.array([np.nan, 0.2]), (60, 80), SETTINGS)
    assert not len(unsure.detections.scores) and (unsure.ids == -1).all()
