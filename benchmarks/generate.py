"""Questions per second on one core: one template at a time on exact signals, gated, before words and pictures are made;
then all templates from the store to the audit (`benchmarks.end_to_end`). `--beside FOLDER`: a checkout of another
commit, whose templates are measured by turns with these.

    python -m benchmarks.generate [--beside FOLDER]
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

_TEMPLATES = [
    "range_ratio",
    "camera_tilt",
    "place_direction",
    "camera_turn",
    "camera_travel",
    "path_map",
    "route_order",
    "navigate",
]
_COUNTS = (200, 2000)
_ROUNDS = 2
_MEASURE = """
import json, sys, time
from functools import partial
import numpy as np
from spatial_engine.rendering import as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from templates.generate import ask_clip
from templates.registry import create_templates
from templates.settings import AskSettings

names, counts = json.loads(sys.argv[1])
walk = partial(camera_paths.walk, turn_rad=1.2)
scene = random_room(np.random.default_rng(1), frames=120, width_px=320, height_px=240, path=walk)
clip = as_clip(scene)
signals = true_signals(scene, clip, clip.frames.tolist())
templates = create_templates()
found = {}
for name in names:
    for count in counts:
        settings = AskSettings(facts_per_template=count)
        rates = []
        for _ in range(3):
            start = time.perf_counter()
            asked = ask_clip(clip, signals, [templates[name]], settings, 0)
            seconds = time.perf_counter() - start
            rates.append((seconds, len(asked.drafts) if hasattr(asked, "drafts") else len(asked)))
        found[f"{name} {count}"] = min(rates)[::-1]
print(json.dumps(found))
"""


def measured(tree: Path) -> dict[str, tuple[int, float]]:
    """Questions and seconds by template and number of facts, with the code in `tree`, on one core."""
    printed = _printed(tree, "-c", _MEASURE, json.dumps([_TEMPLATES, _COUNTS]))
    return {name: (int(number), float(seconds)) for name, (number, seconds) in json.loads(printed).items()}


def _printed(tree: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=environment, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def main() -> None:
    """Prints one line per template, the best of several rounds; then what whole clips cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="checkout of another commit")
    beside = parser.parse_args().beside
    trees = [Path(__file__).parents[1], *([beside.resolve()] if beside else [])]
    rounds = [[measured(tree) for tree in trees] for _ in range(_ROUNDS)]
    print(f"{'template and facts':24}" + "".join(f"{tree.name[:12]:>14} q/s" for tree in trees))
    for name in rounds[0][0]:
        rates = [max(found[k][name][0] / found[k][name][1] for found in rounds) for k in range(len(trees))]
        ratio = f"{rates[0] / rates[1]:10.1f} times" if beside and rates[1] else ""
        print(f"{name:24}" + "".join(f"{rate:18.0f}" for rate in rates) + ratio)
    print(_printed(trees[0], "-m", "benchmarks.end_to_end"), end="")


if __name__ == "__main__":
    main()
