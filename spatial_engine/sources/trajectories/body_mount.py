"""How a camera sits on the body whose poses are known."""

import re
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from action_mapping import PoseError
from action_mapping.rigid import checked_poses
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import read_text

_T_BS = re.compile(r"^T_BS:.*?data:\s*\[(.*?)\]", re.DOTALL | re.MULTILINE)


def read_cam_from_body(path: Path) -> Float64[np.ndarray, "4 4"]:
    """cam_from_body: a text of 16 numbers, row by row, or the inverse of T_BS (camera to body) of a sensor.yaml.

    Raises `UsageError`.
    """
    text = read_text(path)
    stated = _T_BS.search(text)
    remedy = "give 16 numbers, row by row (camera from body), or a EuRoC sensor.yaml with T_BS (body from camera)"
    try:
        matrix = np.array([float(word) for word in re.split(r"[\s,;\[\]]+", stated[1] if stated else text) if word])
        matrix = matrix.reshape(4, 4)
        checked_poses(matrix[None])
    except PoseError as error:
        raise UsageError(f"{path} holds no rigid transform: {error}", remedy) from error
    except ValueError as error:
        raise UsageError(f"{path} holds no 4x4 matrix", remedy) from error
    return np.linalg.inv(matrix) if stated else matrix
