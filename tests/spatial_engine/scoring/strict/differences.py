"""Where official and strict scores differ: one example each. docs/scoring.md shows them as a table."""

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

OPTIONS = {"option": ["A. chair", "B. table", "C. wooden desk", "D. sofa"]}
GRAVITY = json.dumps({"roll": 179, "pitch": 0, "vfov": 60})
SIGMA = {"roll_unc": 2, "pitch_unc": 2, "vfov_unc": 5}
EXACT = {"roll_unc": 0, "pitch_unc": 2, "vfov_unc": 5}
STEP = {"translation_step_size": 0.1, "rotation_step_size": 0.1}
START = [0, 0, 0, 0, 0, 0, 1]


def at(x: float, y: float, z: float, pan_rad: float = 0.0) -> list[float]:
    """A pose, turned about the camera's y axis."""
    return [x, y, z, 0, float(np.sin(pan_rad / 2)), 0, float(np.cos(pan_rad / 2))]


def path(*poses: list[float], gripper: list[int] | None = None) -> dict[str, Any]:
    segments = {f"{place}->{place + 1}": STEP for place in range(len(poses) - 1)}
    return {"optimal_rel_pose": list(poses), **segments, **({"gripper": gripper} if gripper else {})}


def plan(*steps: tuple[str, float]) -> dict[str, Any]:
    return {"actions": [action for action, _ in steps], "step_nums": [count for _, count in steps]}


def mask() -> str:
    """Black, 100 wide and 50 high, white where 60 <= x < 80 and y >= 30; base64 of its PNG."""
    import cv2

    picture = np.zeros((50, 100), dtype=np.uint8)
    picture[30:, 60:80] = 255
    return base64.b64encode(cv2.imencode(".png", picture)[1].tobytes()).decode()


@dataclass(frozen=True)
class Difference:
    metric: str
    what: str
    response: str
    answer: Any = ""
    extra: Any = None
    shown: str = ""
    """The row, in a few words."""


AHEAD = path(START, at(0, 0, 0.5))
ASIDE = path(START, at(0.25, 0, 0.5 * np.sqrt(0.75)))
TURNED = path(START, at(0, 0, 0, np.pi / 2), at(0.5, 0, 0, np.pi / 2))
LONG = path(START, *[at(0, 0, 0.1 * step) for step in range(1, 9)])
THREE = path(START, at(0, 0, 0.5), at(-0.2, 0, 0.5), at(-0.2, -0.3, 0.5))
GRIP = path(START, at(0, 0, 0.5), gripper=[1])
MAP = {
    "objects": [
        {"name": "chair", "position": [2, 3]},
        {"name": "table", "position": [5, 3]},
        {"name": "lamp", "position": [5, 7]},
        {"name": "sofa", "position": [1, 8]},
    ]
}
TWO = json.dumps({"chair": {"position": [2, 3]}, "table": {"position": [5, 3]}})
UPPER = json.dumps({item["name"].upper(): {"position": item["position"]} for item in MAP["objects"]})
ONLY_CHAIR = json.dumps({"chair": {"position": [2, 3]}})
A_LABEL = json.dumps({"objects": [*MAP["objects"], {"name": "ROOM A.", "position": [9, 9]}]})

DIFFERENCES = (
    Difference(
        "gravityeval", "angles are wrapped", '{"roll": -179, "pitch": 0, "vfov": 60}', GRAVITY, SIGMA, "roll 179, σ 2"
    ),
    Difference(
        "gravityeval",
        "σ = 0: an exact answer counts",
        '{"roll": 179, "pitch": 0, "vfov": 60}',
        GRAVITY,
        EXACT,
        "roll 179, σ 0",
    ),
    Difference(
        "gravityeval",
        "one huge number costs only its own term",
        '{"roll": 1e200, "pitch": 0, "vfov": 60}',
        GRAVITY,
        SIGMA,
        "σ 2",
    ),
    Difference(
        "gravityeval",
        "NaN is not a number: the item scores 0",
        '{"roll": NaN, "pitch": 0, "vfov": 60}',
        GRAVITY,
        SIGMA,
        "σ 2",
    ),
    Difference(
        "gravityeval", "true and false are not numbers", '{"roll": true, "pitch": 0, "vfov": 60}', GRAVITY, SIGMA, "σ 2"
    ),
    Difference(
        "gravityeval",
        "single-quoted keys and keys in any letter case are accepted",
        "{'Roll': 179, 'Pitch': 0, 'vFOV': 60}",
        GRAVITY,
        SIGMA,
        "σ 2",
    ),
    Difference(
        "gravityeval",
        "the last object counts",
        '{"roll": 1} or rather {"roll": 179, "pitch": 0, "vfov": 60}',
        GRAVITY,
        SIGMA,
        "σ 2",
    ),
    Difference(
        "gravityeval", "names match whole words", "controll: 7, roll: 179, pitch: 0, vfov: 60", GRAVITY, SIGMA, "σ 2"
    ),
    Difference("multichoiceeval", "emphasis, tags, boxes and brackets are read", "**B**", "B", OPTIONS, "B of four"),
    Difference("multichoiceeval", "a refusal is wrong; no letter is drawn", "I don't know", "A", OPTIONS, "A of four"),
    Difference(
        "multichoiceeval",
        "a letter inside a word is not an answer",
        "Answer Because it is closer, so C",
        "C",
        OPTIONS,
        "C of four",
    ),
    Difference("multichoiceeval", "an article is not an answer", "A lamp stands there", "A", OPTIONS, "A of four"),
    Difference(
        "multichoiceeval",
        "reasoning is not the answer",
        "<think>maybe (A)</think> answer: D",
        "D",
        OPTIONS,
        "D of four",
    ),
    Difference(
        "multichoiceeval",
        "the last stated answer counts",
        "The answer is B. No wait, The answer is C.",
        "C",
        OPTIONS,
        "C of four",
    ),
    Difference("multichoiceeval", "several options are no answer", "A. B. C.", "C", OPTIONS, "C of four"),
    Difference(
        "multichoiceeval",
        "the text of an option, without its letter",
        "it should be the wooden desk",
        "C",
        OPTIONS,
        "C of four",
    ),
    Difference(
        "multichoiceeval",
        "the row's answer may include the option's text",
        "answer: B",
        "B. table",
        OPTIONS,
        "B. table",
    ),
    Difference("meanrelativeacc", "an error of exactly 20 % counts as within 20 %", "120", "100", {}, "100"),
    Difference("meanrelativeacc", "a target of 0 can be met", "0", "0", {}, "0"),
    Difference("meanrelativeacc", "wrong answers to a negative target score 0", "-1000", "-10", {}, "-10"),
    Difference("meanrelativeacc", "exponents", "1.9e3", "1900", {}, "1900"),
    Difference("meanrelativeacc", "a decimal comma", "1915,5", "1915.5", {}, "1915.5"),
    Difference(
        "meanrelativeacc",
        "coordinates and numbers in names are no answers",
        "At [389, 180] of photo 2 the depth is 1915",
        "1915",
        {},
        "1915",
    ),
    Difference(
        "meanrelativeacc", "units are converted, where the row has one", "190 cm", "1.9", {"unit": "m"}, "1.9 m"
    ),
    Difference("meanrelativeacc", "a range is not a number", "1900~1950", "1915", {}, "1915"),
    Difference(
        "meanrelativeacc", "a number in a refusal is not an answer", "I cannot tell from 1 photo.", "1", {}, "1"
    ),
    Difference("judgemodel", "whole words only", "Yes, I know.", "yes", {}, "yes"),
    Difference("judgemodel", "a refusal is wrong", "I do not know", "no", {}, "no"),
    Difference("judgemodel", "'no' before a noun is not an answer", "Yes, there is no obstacle", "yes", {}, "yes"),
    Difference("judgemodel", "case and punctuation of the row's answer", "yes", "Yes.", {}, "Yes."),
    Difference("judgemodel", "a row without yes or no has no right answer", "", "other", {}, "other"),
    Difference("aff_mask_metric", "JSON is read", '{"x": 0.7, "y": 0.7}', mask(), {}, "white around (0.7, 0.7)"),
    Difference(
        "aff_mask_metric",
        "the stated answer, not the last pair",
        "[0.7, 0.7] rather than (0.1, 0.1)",
        mask(),
        {},
        "white around (0.7, 0.7)",
    ),
    Difference(
        "aff_mask_metric", "a box counts as its centre", "[0.5, 0.5, 0.9, 0.9]", mask(), {}, "white around (0.7, 0.7)"
    ),
    Difference("aff_mask_metric", "thousandths are scaled", "[700, 700]", mask(), {}, "white around (0.7, 0.7)"),
    Difference(
        "aff_mask_metric", "a point outside the picture scores 0", "[70, 2000]", mask(), {}, "white down to the edge"
    ),
    Difference(
        "cogmapeval", "coverage counts", f"{TWO} Answer: B", "B", {"id_type": "among", "cogmap": MAP}, "four objects"
    ),
    Difference(
        "cogmapeval",
        "no credit for orientations that the true map lacks",
        f"{ONLY_CHAIR} Answer: B",
        "B",
        {"id_type": "among", "cogmap": MAP},
        "four objects",
    ),
    Difference(
        "cogmapeval",
        "names in any case",
        f"{UPPER} Answer: B",
        "B",
        {"id_type": "among", "cogmap": MAP},
        "four objects",
    ),
    Difference(
        "cogmapeval",
        "the letter is read outside the map",
        f"{A_LABEL} B",
        "B",
        {"id_type": "among", "cogmap": MAP},
        "four objects",
    ),
    Difference("gpteval", "scores are from 0 to 1", '{"answer_score": [[85]]}', shown="a judge's reply"),
    Difference("gpteval", "a number that is no score", "In step 2 it says nothing.", shown="a judge's reply"),
    Difference(
        "agenticnaveval",
        "counts that are not numbers",
        '{"actions": ["W"], "step_nums": [NaN]}',
        "",
        AHEAD,
        "0.5 m ahead",
    ),
    Difference(
        "agenticnaveval", "an empty plan scores 0", '{"actions": [], "step_nums": []}', "", AHEAD, "0.5 m ahead"
    ),
    Difference(
        "agenticnaveval", "names of actions are read", json.dumps(plan(("Dolly In", 5))), "", AHEAD, "0.5 m ahead"
    ),
    Difference(
        "agenticnaveval",
        "every action needs a count",
        '{"actions": ["W", "D"], "step_nums": [5]}',
        "",
        AHEAD,
        "0.5 m ahead",
    ),
    Difference(
        "agenticnaveval", "counts are whole numbers from 0 to 10", json.dumps(plan(("W", 50))), "", AHEAD, "0.5 m ahead"
    ),
    Difference(
        "agenticnaveval",
        "the last plan counts",
        f"{json.dumps(plan(('S', 1)))} No: {json.dumps(plan(('W', 5)))}",
        "",
        AHEAD,
        "0.5 m ahead",
    ),
    Difference(
        "agenticnaveval",
        "translations are in the camera's frame",
        json.dumps(plan(("W", 5))),
        "",
        TURNED,
        "0.5 m ahead of a camera turned by 90°",
    ),
    Difference(
        "agenticnaveval",
        "Pan rotates about y",
        json.dumps(plan(("W", 1), ("→", 7))),
        "",
        path(START, at(0, 0, 0.1, 0.7)),
        "0.1 m ahead, turned by 0.7 rad",
    ),
    Difference(
        "agenticnaveval", "the goal is the last pose", json.dumps(plan(("W", 1))), "", LONG, "nine poses, 0.1 m apart"
    ),
    Difference(
        "agenticnaveval",
        "s_d is the norm of a vector difference",
        json.dumps(plan(("W", 5))),
        "",
        ASIDE,
        "0.5 m, 30° to the right",
    ),
    Difference("manipulateeval", "a format error scores 0", "{}", "", THREE, "three steps"),
    Difference(
        "manipulateeval", "the whole path counts", json.dumps({"step_1": plan(("W", 5))}), "", THREE, "three steps"
    ),
    Difference(
        "manipulateeval",
        "extra steps are executed",
        json.dumps({"step_1": plan(("W", 5)), "step_2": plan(("S", 5))}),
        "",
        AHEAD,
        "one step of 0.5 m",
    ),
    Difference(
        "manipulateeval",
        "names of actions are read",
        json.dumps({"step_1": plan(("Dolly In", 5))}),
        "",
        AHEAD,
        "one step of 0.5 m",
    ),
    Difference(
        "manipulateeval",
        "the gripper counts where the row has it",
        json.dumps({"step_1": {**plan(("W", 5)), "gripper": 0}}),
        "",
        GRIP,
        "0.5 m ahead, gripper closed",
    ),
)


PLANS = (
    Difference("agenticnaveval", "a plan that reaches the goal", json.dumps(plan(("W", 5))), "", AHEAD, "0.5 m ahead"),
    Difference("agenticnaveval", "a wrong direction", json.dumps(plan(("W", 5))), "", ASIDE, "0.5 m, 30° to the right"),
    Difference("agenticnaveval", "a plan of no action", json.dumps(plan(("STOP", 1))), "", AHEAD, "0.5 m ahead"),
    Difference(
        "manipulateeval",
        "the goal, by other steps",
        json.dumps({"step_1": plan(("A", 2)), "step_2": plan(("W", 5)), "step_3": plan(("space", 3))}),
        "",
        THREE,
        "0.5 m ahead, 0.2 m left, 0.3 m up",
    ),
    Difference(
        "manipulateeval",
        "the first of three steps",
        json.dumps({"step_1": plan(("W", 5))}),
        "",
        THREE,
        "0.5 m ahead, 0.2 m left, 0.3 m up",
    ),
)
"""How the three scores of plans differ."""


def plan_table(scores: list[tuple[float, float, float]]) -> str:
    """`PLANS` in markdown, with the scores of all three."""
    lines = ["| metric | plan | response | target | published | strict | spatialtree_paper |", "|" + "---|" * 7]
    for row, values in zip(PLANS, scores, strict=True):
        shown = row.response if len(row.response) <= 60 else row.response[:40] + " … " + row.response[-15:]
        cells = (row.metric, row.what, f"`{shown}`", row.shown, *(f"{value:.3f}" for value in values))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def table(scores: list[tuple[float, float]]) -> str:
    """The rows in markdown, with the scores of both."""
    lines = ["| metric | strict rule | response | target | published | strict |", "|---|---|---|---|---|---|"]
    for row, (published, strict) in zip(DIFFERENCES, scores, strict=True):
        shown = row.response if len(row.response) <= 90 else row.response[:60] + " … " + row.response[-20:]
        cell = f"`{shown}`".replace("|", "\\|") if shown else "(empty)"
        lines.append(f"| {row.metric} | {row.what} | {cell} | {row.shown} | {published:.3f} | {strict:.3f} |")
    return "\n".join(lines)
