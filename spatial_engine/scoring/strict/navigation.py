"""Plans of a camera's way, scored by where they end."""

from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.strict.plans import ends, follow, read_segments, step_sizes, true_path
from spatial_engine.scoring.strict.rows import Unread, strict_metric


@strict_metric
def agenticnaveval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_d · max(0, s_θ) and s_rot at the end of the plan; 0 for a plan that leads nowhere or is not whole.

    s_d = max(0, 1 - |d - d_goal| / d_goal), s_θ the cosine between both ways, s_rot = 1 - θ/π (SpatialTree v1,
    appendix, which gives no weights: equal ones are ours). The plan starts at the last but one pose of
    `extra_info["optimal_rel_pose"]` and is followed in that camera's frame; its goal is the last. `answer` is not
    looked at.
    """
    path = true_path(extra_info, fewest=2)[-2:]
    sizes = step_sizes(extra_info)[-1:]
    segments = read_segments(response)
    if len(segments) > 1:
        raise Unread("several plans where one was asked for")
    at = ends(path, follow(path[0], segments, sizes))
    detail = {
        "way": at.way,
        "turn": at.turn,
        "moved": at.moved,
        "position_error_m": at.position_error_m,
        "rotation_error_deg": at.rotation_error_deg,
    }
    return (at.way + at.turn) / 2 if at.moved and segments[0].actions else 0.0, detail
