"""What belongs together: clips of one scene, and clips that share a fact, a photo or near-duplicate pictures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import numpy as np
from jaxtyping import Int64

from templates.question import Question

FOLDS = 5


def linked_clips(
    questions: Iterable[Question], scenes: Mapping[str, str], alike: Iterable[tuple[str, str]] = ()
) -> list[tuple[str, ...]]:
    """Groups of clip ids that no split may divide, each sorted. `alike`: pairs of clips with near-duplicate pictures.

    Clips that `scenes` does not name are scenes of their own. Every clip of `scenes` is in one group.
    """
    of_root: dict[str, str] = {}

    def root(clip: str) -> str:
        while (above := of_root.setdefault(clip, clip)) != clip:
            clip = of_root[clip] = of_root[above]
        return clip

    first: dict[tuple[str, str], str] = {}

    def link(kind: str, name: str, clip: str) -> None:
        low, high = sorted((root(first.setdefault((kind, name), clip)), root(clip)))
        of_root[high] = low

    for clip, scene in sorted(scenes.items()):
        link("scene", scene, clip)
    for question in questions:
        link("fact", question.fact_id, question.clip)
        for medium in question.media:
            if medium.get("kind") == "frames":  # equal drawings may well be made of different footage
                link("photo", str(medium.get("id")), question.clip)
    for number, (a, b) in enumerate(alike):
        link("alike", str(number), a)
        link("alike", str(number), b)
    groups: dict[str, list[str]] = defaultdict(list)
    for clip in sorted(of_root):
        groups[root(clip)].append(clip)
    return [tuple(groups[name]) for name in sorted(groups)]


def folds_of(
    questions: Sequence[Question], scenes: Mapping[str, str], count: int = FOLDS
) -> tuple[Int64[np.ndarray, "n"], str]:
    """The fold of each question, and what was kept together: "scene", or "fact" where all is one scene.

    Folds hold about equally many questions; there are fewer than `count` if there are fewer groups.
    """
    group_of = {clip: str(n) for n, group in enumerate(linked_clips(questions, scenes)) for clip in group}
    names, kept = [group_of[question.clip] for question in questions], "scene"
    if len(set(names)) < 2:
        names, kept = [question.fact_id for question in questions], "fact"
    sizes: dict[str, int] = defaultdict(int)
    for name in names:
        sizes[name] += 1
    fold_of, filled = {}, [0] * max(1, min(count, len(sizes)))
    for name in sorted(sizes, key=lambda name: (-sizes[name], sha256(name.encode()).hexdigest())):
        fold_of[name] = filled.index(min(filled))
        filled[fold_of[name]] += sizes[name]
    return np.array([fold_of[name] for name in names], dtype=np.int64), kept
