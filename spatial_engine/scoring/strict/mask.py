"""Pointing at a mask."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import UInt8

from spatial_engine.scoring.reading import read_point
from spatial_engine.scoring.strict.rows import RowFault, strict_metric, value_of


@strict_metric
def aff_mask_metric(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Grey value, from 0 to 1, of the mask at the point that the response concludes with; 0 outside the picture.

    `answer`: base64 of a picture file. The point may be fractions, percents, thousandths, pixels or a box's centre
    (`read_point`). `extra_info` is not looked at.
    """
    mask = _decoded(answer)
    height, width = mask.shape
    x, y = value_of(read_point(response, width, height))
    column, row = round(x), round(y)
    inside = 0 <= column < width and 0 <= row < height
    value = int(mask[row, column]) if inside else 0
    return value / 255, {"column": column, "row": row, "inside": inside}


def _decoded(answer: Any) -> UInt8[np.ndarray, "h w"]:
    import cv2

    text = answer.split("base64,", 1)[-1] if isinstance(answer, str) else ""
    try:
        data = np.frombuffer(base64.b64decode(text + "==="), dtype=np.uint8)
        mask = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
    except (binascii.Error, ValueError, cv2.error):
        mask = None
    if mask is None or mask.size == 0:
        raise RowFault("the answer is not a picture")
    return np.asarray(mask, dtype=np.uint8)
