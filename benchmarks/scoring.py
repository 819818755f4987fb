"""Responses per second of the published scores, on one core; compared with the reference where it is available.

    [LMMS_EVAL=checkout of lmms-eval] python -m benchmarks.scoring [REPEATS]

Best of the repeats, in CPU time. With LMMS_EVAL the reference's functions, loaded from their single file (which needs
only numpy and scipy), score the same responses by turns with ours: the last column is the ratio of the two.
"""

import base64
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np

from spatial_engine.scoring import official

Case = tuple[Any, Any, Any]
"""(response, answer, extra_info)."""
RULES = "lmms_eval/tasks/spatialtreebench/metrics/rule_metrics.py"
OPTIONS = {"option": ["A. chair", "B. table", "C. wooden desk", "D. sofa"]}
STYLES = (
    "{}", "({})", "{}.", "answer: {}", "Answer: {}", "'answer: {}'", "The answer is {}.", "**{}**", "answer: {}\n",
    "<answer>{}</answer>", "\\boxed{{{}}}", "The correct option is {}", "{}. table", "Option {} is correct.",
    "The table stands in front of the sofa, so it is closer: {}.", "I cannot tell from these pictures.",
)  # fmt: skip
"""Common styles of answers; in a third of them the reference finds no letter and draws one at random."""
THOUGHT = "<think>" + "The lamp stands to the left of the shelf, and the shelf behind the table. " * 28 + "</think>\n"
POSES = [[0.05 * i, 0.0, 0.1 * i, 0.0, 0.0, 0.0, 1.0] for i in range(5)]
SEGMENTS = {f"{i}->{i + 1}": {"translation_step_size": 0.02, "rotation_step_size": 0.0087} for i in range(4)}
PLAN = {"actions": ["W", "D", "→", "↑", "shift"], "step_nums": [5, 2, 3, 1, 2]}


def main(repeats: int) -> None:
    """Prints one line per metric."""
    reference = load_reference()
    print(f"{'':42}{'thousand/s':>12}" + (f"{'reference':>12}{'ratio':>8}" if reference else ""))
    for title, (name, cases) in workloads().items():
        runs = [seconds(getattr(official, name), cases)]
        theirs = [seconds(getattr(reference, name), cases)] if reference else []
        for _ in range(repeats - 1):
            runs.append(seconds(getattr(official, name), cases))
            if reference:
                theirs.append(seconds(getattr(reference, name), cases))
        line = f"{title:42}{len(cases) / min(runs) / 1e3:12.1f}"
        if theirs:
            line += f"{len(cases) / min(theirs) / 1e3:12.1f}{min(theirs) / min(runs):8.1f}"
        print(line, flush=True)


def workloads() -> Mapping[str, tuple[str, Sequence[Case]]]:
    """Names of metrics and the cases that they score, by title."""
    letters = [style.format(letter) for letter in "ABCD" for style in STYLES]
    step, fenced = json.dumps(PLAN), "```json\n{}\n```"
    steps = json.dumps({f"step_{i + 1}": PLAN for i in range(4)}, ensure_ascii=False, indent=1)
    hint = {"optimal_rel_pose": POSES, **SEGMENTS}
    angles = json.dumps({"roll": 2.5, "pitch": -10.0, "vfov": 60.0})
    sigmas = {"roll_unc": 2.0, "pitch_unc": 2.0, "vfov_unc": 5.0}
    mask = base64.b64encode(cv2.imencode(".png", np.eye(64, dtype=np.uint8) * 255)[1].tobytes()).decode()
    return {
        "choices, ordinary styles": ("multichoiceeval", [(text, "B", OPTIONS) for text in letters * 100]),
        "choices after 2000 characters of thought": (
            "multichoiceeval", [(THOUGHT + text, "B", OPTIONS) for text in letters * 10]
        ),
        "numbers": ("meanrelativeacc", [(f"about {n} mm", "1915", {}) for n in range(1000, 6000)]),
        "yes or no": ("judgemodel", [(text, "yes", {}) for text in ("Yes.", "no", "Yes, I know.") * 1000]),
        "gravity": ("gravityeval", [(fenced.format(angles), angles, sigmas)] * 3000),
        "points on a mask of 64 x 64": ("aff_mask_metric", [(f"[{n / 500}, 0.5]", mask, {}) for n in range(500)]),
        "camera plans of one segment": ("agenticnaveval", [(fenced.format(step), "", hint)] * 1000),
        "arm plans of one segment": ("manipulateeval", [(fenced.format(f'{{"s1": {step}}}'), "", hint)] * 1000),
        "arm plans of four segments": ("manipulateeval", [(fenced.format(steps), "", hint)] * 500),
    }  # fmt: skip


def seconds(metric: Callable[[Any, Any, Any], object], cases: Sequence[Case]) -> float:
    """CPU time of all cases; suppresses printed output."""
    with redirect_stdout(StringIO()):
        start = time.process_time()
        for case in cases:
            metric(*case)
        return time.process_time() - start


def load_reference() -> ModuleType | None:
    """The reference's rule metrics; None without LMMS_EVAL."""
    if not (folder := os.environ.get("LMMS_EVAL")):
        return None
    spec = spec_from_file_location("reference_rules", Path(folder) / RULES)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
