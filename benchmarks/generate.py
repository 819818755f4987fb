"""Questions per second on one core, on exact signals of furnished rooms: each template, gated and put into words, with
few and with many facts a room, the slowest first; then how many have their pictures drawn per second. For what whole
clips cost from the store to the audit, see `benchmarks.end_to_end`. `--beside FOLDER`: a checkout of another commit,
measured by turns with this one.

    python -m benchmarks.generate [--beside FOLDER]
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

_COUNTS = (8, 200)
"""Facts per template and room: as a user has it, and so many that what is done once per room hardly counts."""
_ROUNDS = 2
_DRAWN = 300
"""Questions whose pictures are drawn: every n-th."""
_MEASURE = """
import gc, json, sys, tempfile, time
from collections import Counter, defaultdict
from pathlib import Path
from typing import get_args
import numpy as np
from benchmarks.end_to_end import drawn, exact_clip
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furnished_paths import PathKind
from templates.generate import ask
from templates.registry import create_templates
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings

facts, count_drawn = map(int, sys.argv[1:])
paths = enumerate(get_args(PathKind))
clips = [exact_clip(furnished_room(np.random.default_rng(k), frames=60, path=path, movers=3)) for k, path in paths]
templates = create_templates().values()

def questions_of(facts):
    settings, found, drafts = AskSettings(facts_per_template=facts), defaultdict(lambda: [0, 0.0]), []
    for clip, signals in clips:
        worlds = scenes_of(clip, signals)
        for template in templates:
            start = time.process_time()
            asked = ask(template, worlds, settings, 0, Counter())
            new = [draft for one in asked for draft in one.drafts()]
            for row, more in enumerate((len(new), time.process_time() - start)):
                found[f"{template.ability[:2]} {template.name}"][row] += more
            drafts += new
    return found, drafts

questions_of(1)
gc.disable()  # as where a dataset is written
found, drafts = questions_of(facts)
clip = clips[0][0]
own = [draft for draft in drafts if draft.clip_id == clip.id and draft.ability.startswith("L1/")]
with tempfile.TemporaryDirectory() as folder:
    rates = drawn(clip, own[:: max(1, len(own) // count_drawn)], Path(folder)) if count_drawn else {}
print(json.dumps([found, rates]))
"""

Found = dict[str, tuple[int, float]]


def measured(tree: Path, facts: int, drawn: int) -> tuple[Found, dict[str, float]]:
    """Questions and CPU seconds by template, and questions of L1 drawn per second, with the code in `tree`."""
    found, rates = json.loads(_printed(tree, "-c", _MEASURE, str(facts), str(drawn)))
    return {name: (int(number), float(seconds)) for name, (number, seconds) in found.items()}, rates


def _printed(tree: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=environment, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def _table(trees: list[Path], facts: int) -> None:
    """One line per template, the best of several rounds, and one for all of L1."""
    rounds = [[measured(tree, facts, 0)[0] for tree in trees] for _ in range(_ROUNDS)]
    best = [
        {name: min((found[k][name] for found in rounds), key=_seconds) for name in rounds[0][k]}
        for k in range(len(trees))
    ]
    print(f"{facts} facts per template and room" + "".join(f"{tree.name[:14]:>16} q/s" for tree in trees))
    rows = {name: [each.get(name, (0, 0.0)) for each in best] for name in best[0]}
    every = [[row[k] for name, row in rows.items() if name.startswith("L1 ")] for k in range(len(trees))]
    for name, row in sorted(rows.items(), key=lambda item: -item[1][0][1]):
        print(_line(name, row))
    print(_line("all of L1", [(sum(n for n, _ in each), sum(s for _, s in each)) for each in every]))


def _seconds(found: tuple[int, float]) -> float:
    return found[1]


def _line(name: str, row: list[tuple[int, float]]) -> str:
    rates = [number / seconds if seconds else 0.0 for number, seconds in row]
    ratio = f"{rates[0] / rates[1]:10.1f} times" if len(rates) > 1 and rates[1] else ""
    return f"{name:30}" + "".join(f"{rate:20.0f}" for rate in rates) + ratio


def main() -> None:
    """Prints the tables, and the questions drawn per second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="checkout of another commit")
    beside = parser.parse_args().beside
    trees = [Path(__file__).parents[1], *([beside.resolve()] if beside else [])]
    for facts in _COUNTS:
        _table(trees, facts)
    for tree in trees:
        for kind, rate in measured(tree, _COUNTS[0], _DRAWN)[1].items():
            print(f"{tree.name}: L1 drawn, {kind}: {rate:.0f} q/s")


if __name__ == "__main__":
    main()
