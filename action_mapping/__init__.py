"""Camera and effector poses in, discrete actions out, and back again. The only place that names motion.

Pure arrays: imports numpy and scipy only. No I/O, no model, no clip.
"""

from action_mapping.naming import (
    NamedMotion,
    Unnamed,
    agreed_rotation,
    agreed_translation,
    dominant_rotation,
    dominant_translation,
)
from action_mapping.primitives import PRIMITIVES, Primitive
from action_mapping.reading import MotionComponents, MotionReading, read_motion
from action_mapping.rigid import PoseError

__all__ = [
    "PRIMITIVES",
    "MotionComponents",
    "MotionReading",
    "NamedMotion",
    "PoseError",
    "Primitive",
    "Unnamed",
    "agreed_rotation",
    "agreed_translation",
    "dominant_rotation",
    "dominant_translation",
    "read_motion",
]
