"""Plans of an arm or hand in several steps, scored by where they end and by the gripper."""

from collections.abc import Mapping, Sequence
from typing import Any

from spatial_engine.scoring.strict.plans import Segment, closed, ends, follow, read_segments, step_sizes, true_path
from spatial_engine.scoring.strict.rows import strict_metric


@strict_metric
def manipulateeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_d · max(0, s_θ), s_rot and, where the row knows it, s_gripper; 0 for a plan that leads nowhere.

    All of the plan is followed from the first pose of `extra_info["optimal_rel_pose"]` in the frame of the arm or
    hand, and held against the last, however many steps it has (terms: see `agenticnaveval`; equal weights are ours).
    s_gripper: share of the true states (`gripper` in each "i->j", or a list of them, 1 closed) that the plan's steps
    name. `answer` is not looked at.
    """
    path = true_path(extra_info, fewest=2)
    sizes = step_sizes(extra_info)
    segments = read_segments(response)
    at = ends(path, follow(path[0], segments, sizes))
    terms = {"way": at.way, "turn": at.turn}
    grip = _gripper(segments, _true_states(extra_info))
    if grip is not None:
        terms["gripper"] = grip
    detail = {
        **terms,
        "moved": at.moved,
        "steps": len(segments),
        "true_steps": len(sizes),
        "position_error_m": at.position_error_m,
        "rotation_error_deg": at.rotation_error_deg,
    }
    done = at.moved and any(segment.actions for segment in segments)
    return sum(terms.values()) / len(terms) if done else 0.0, detail


def _true_states(extra_info: Mapping[str, Any]) -> list[int | None]:
    listed = extra_info.get("gripper")
    if isinstance(listed, list):
        return [closed(state) for state in listed]
    keys = sorted((key for key in extra_info if "->" in str(key)), key=lambda key: (len(str(key)), str(key)))
    infos = [extra_info[key] for key in keys]
    return [closed(info.get("gripper")) if isinstance(info, Mapping) else None for info in infos]


def _gripper(segments: Sequence[Segment], states: Sequence[int | None]) -> float | None:
    """Share of the known states that are named; None where none is known."""
    known = [(place, state) for place, state in enumerate(states) if state is not None]
    if not known:
        return None
    return sum(place < len(segments) and segments[place].gripper == state for place, state in known) / len(known)
