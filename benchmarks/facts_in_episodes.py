"""Counts what the templates about episodes ask of rendered ones, by exact signals, and answers each question again by
the places of gripper and objects (the evaluators of `tests/templates`).

    python -m benchmarks.facts_in_episodes [EPISODES]

By default 60: by turns a gripper takes, pushes or pulls something, and every fourth attempt fails. Then the pairs of
photos of a task's progress (`progress_pair`) in as many long episodes, by the number of steps of ten frames between
them (5 to 11, and 12 for more): a pair is wrong if the state of the task contradicts it.
"""

import sys
from collections import Counter
from typing import Any

import numpy as np

from templates.generate import measured_by
from templates.registry import TEMPLATES
from templates.scene.scenes import scenes_of
from tests.templates import test_arm_in_episodes as arm
from tests.templates import test_episodes as task
from tests.templates import worlds

_FACTS = 20
"""Of each template about one episode."""
_PAIRS = 2000
_LONGEST = 12
"""Steps between the photos of the last class of pairs."""


def asked_of(seed: int) -> list[tuple[str, Any, bool]]:
    """Template, fact id and rightness of each question about one episode."""
    episode, drafts = arm.asked(seed)
    found = [(draft.template, draft.fact_id, arm.RIGHT[draft.template](episode.scene, draft)) for draft in drafts]
    episode = task.made(seed)
    for draft in worlds.drafts(task.asked(episode, tuple(task.RIGHT), _FACTS)):
        found.append((draft.template, draft.fact_id, task.RIGHT[draft.template](episode, draft.fact, draft)))
    return found


def pairs_of(seed: int) -> list[tuple[int, bool]]:
    """Steps between the photos, and rightness, of each pair about one long episode; both orders count as one."""
    episode = task.long(seed)
    (world,) = scenes_of(*task.signals_of(episode))
    template = TEMPLATES.load("progress_pair")()
    facts = template.propose(world, np.random.default_rng(seed), _PAIRS)
    measured = measured_by(template, facts, world)
    assert measured.label is not None
    once = np.flatnonzero((measured.why == "") & ~facts.inverse)
    return [
        (min((b - a) // 10, _LONGEST), label == "2" and task.how_far(episode, a) < task.how_far(episode, b))
        for (a, b), label in zip(facts.frames[once].tolist(), measured.label[once], strict=True)
    ]


def main(episodes: int) -> None:
    """Prints both tables."""
    facts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for seed in range(episodes):
        rows = asked_of(seed)
        facts.update(name for name, _ in {(name, fact) for name, fact, _ in rows})
        wrong.update(name for name, _ in {(name, fact) for name, fact, right in rows if not right})
    _print("template", facts, wrong)
    pairs = [pair for seed in range(episodes) for pair in pairs_of(seed)]
    _print("steps between", Counter(steps for steps, _ in pairs), Counter(steps for steps, right in pairs if not right))


def _print(title: str, counts: Counter[Any], wrong: Counter[Any]) -> None:
    print(f"{title:16}{'facts':>8}{'wrong':>8}")
    for name, count in sorted(counts.items()):
        print(f"{name!s:16}{count:8}{wrong[name]:8}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
