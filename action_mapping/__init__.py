"""Maps poses of cameras and robot effectors to discrete actions, and actions back to poses.

No other package assigns names to motion. Functions take and return arrays. The package imports numpy and scipy only,
and reads no files.
"""

from action_mapping.alignment import Alignment, PathError, align, ate, rpe
from action_mapping.camera_rates import PathWarning, camera_rates
from action_mapping.dead_zones import SegmentSettings
from action_mapping.effector_motion import (
    ActionFrameReading,
    EffectorEvent,
    EffectorSettings,
    action_frame,
    effector_actions,
    effector_events,
    effector_pose,
    view_path,
)
from action_mapping.naming import (
    NamedMotion,
    agreed_rotation,
    agreed_translation,
    dominant_rotation,
    dominant_translation,
)
from action_mapping.official_dialect import official_replay
from action_mapping.pair_plan import other_plans, pair_amounts, pair_plan
from action_mapping.path_plan import PlannedSegment, path_plan
from action_mapping.plan import Action, Plan, PlanError, read_plan
from action_mapping.primitives import PRIMITIVES, Primitive, UnknownPrimitiveError, primitive
from action_mapping.reading import MotionReading, read_motion
from action_mapping.replay import Residual, inverse, replay, replay_all, residuals
from action_mapping.rigid import PoseError
from action_mapping.segments import Segment, motion_segments

__all__ = [
    "PRIMITIVES",
    "Action",
    "ActionFrameReading",
    "Alignment",
    "EffectorEvent",
    "EffectorSettings",
    "MotionReading",
    "NamedMotion",
    "PathError",
    "PathWarning",
    "Plan",
    "PlanError",
    "PlannedSegment",
    "PoseError",
    "Primitive",
    "Residual",
    "Segment",
    "SegmentSettings",
    "UnknownPrimitiveError",
    "action_frame",
    "agreed_rotation",
    "agreed_translation",
    "align",
    "ate",
    "camera_rates",
    "dominant_rotation",
    "dominant_translation",
    "effector_actions",
    "effector_events",
    "effector_pose",
    "inverse",
    "motion_segments",
    "official_replay",
    "other_plans",
    "pair_amounts",
    "pair_plan",
    "path_plan",
    "primitive",
    "read_motion",
    "read_plan",
    "replay",
    "replay_all",
    "residuals",
    "rpe",
    "view_path",
]
