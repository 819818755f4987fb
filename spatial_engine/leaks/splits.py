"""Which clips belong together, and what more than one split has: scenes, facts, photos, near-duplicates."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks.near_duplicates import FOOTAGE, near_duplicates, similar_pairs, thumbnails
from templates.columns import Json
from templates.question import Question

FOLDS = 5
_KEPT = 50
"""Entries of each list that `audit.json` holds."""


def linked_clips(
    questions: Iterable[Question], scenes: Mapping[str, str], similar: Iterable[tuple[str, str]] = ()
) -> list[tuple[str, ...]]:
    """Groups of clip ids that no split may divide, each sorted: clips of one scene, and clips that share a fact or a
    photo. `similar`: pairs of clips with near-duplicate photos.

    Clips that `scenes` does not name are scenes of their own. Every clip of `scenes` is in one group.
    """
    from scipy.cluster.hierarchy import DisjointSet

    links = [(clip, ("scene", scene)) for clip, scene in scenes.items()]
    for question in questions:
        links.append((question.clip, ("fact", question.fact_id)))
        links += [(question.clip, ("photo", id)) for id in _photo_ids(question)]
    links += [(a, ("clip", b)) for a, b in similar]
    joined = DisjointSet()
    for clip, other in links:
        joined.add(("clip", clip))
        joined.add(other)
        joined.merge(("clip", clip), other)
    groups = (tuple(sorted(name for kind, name in group if kind == "clip")) for group in joined.subsets())
    return sorted(groups)


def folds_of(
    questions: Sequence[Question], scenes: Mapping[str, str], count: int = FOLDS
) -> tuple[Int64[np.ndarray, "n"], str]:
    """The fold of each question, and what is never divided between folds: "scene", or "fact" where all is one scene.

    Folds hold about equally many questions; there are fewer than `count` if there are fewer groups.
    """
    from sklearn.model_selection import GroupKFold

    group_of = {clip: n for n, group in enumerate(linked_clips(questions, scenes)) for clip in group}
    groups, grouped_by = np.array([group_of[question.clip] for question in questions], dtype=np.int64), "scene"
    if len(np.unique(groups)) < 2:
        facts = [question.fact_id for question in questions]
        groups, grouped_by = np.unique(np.array(facts, dtype=str), return_inverse=True)[1], "fact"
    folds = np.zeros(len(questions), dtype=np.int64)
    if (count := min(count, len(np.unique(groups)))) > 1:
        for fold, (_, test) in enumerate(GroupKFold(count).split(groups, groups=groups)):
            folds[test] = fold
    return folds, grouped_by


def across_splits(
    questions: Iterable[Question], scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> dict[str, Json]:
    """Scenes, facts and photos that more than one split has, each with its splits; clips in no split or in several."""
    splits_of: dict[str, set[str]] = defaultdict(set)
    for name, clips in splits.items():
        for clip in clips:
            splits_of[clip].add(name)
    found: dict[str, dict[str, set[str]]] = {kind: defaultdict(set) for kind in ("scenes", "facts", "photos")}
    for clip, scene in scenes.items():
        found["scenes"][scene] |= splits_of[clip]
    for question in questions:
        found["facts"][question.fact_id] |= splits_of[question.clip]
        for id in _photo_ids(question):
            found["photos"][id] |= splits_of[question.clip]
    record: dict[str, Json] = {}
    for kind, members in found.items():
        divided = {name: sorted(names) for name, names in sorted(members.items()) if len(names) > 1}
        record[kind] = {"count": len(divided), "first": dict(list(divided.items())[:_KEPT])}
    record["clips_in_no_split"] = sorted(clip for clip in scenes if not splits_of[clip])[:_KEPT]
    record["clips_in_several_splits"] = sorted(clip for clip, names in splits_of.items() if len(names) > 1)[:_KEPT]
    return record


def similar_photos(
    folder: Path, questions: Sequence[Question], scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Json], list[tuple[str, str]]]:
    """Near-duplicate photos and questions for `audit.json`, and all pairs of clips that share such photos. Reads every
    photo: about two milliseconds each."""
    clips_of: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for medium in question.media:
            if medium.get("kind") == "frames" and medium.get("path"):
                clips_of[str(medium["path"])].add(question.clip)
    found = thumbnails(folder, list(clips_of))
    same: dict[str, set[str]] = defaultdict(set)
    photos: Counter[tuple[str, str]] = Counter()
    for a, b in similar_pairs(found).tolist():
        first, second = found.paths[a], found.paths[b]
        same[first].add(second)
        same[second].add(first)
        photos.update({_pair(p, q): 1 for p in clips_of[first] for q in clips_of[second] if p != q})
    pairs = near_duplicates(questions, lambda path: same[path] | {path})
    asked = Counter(_pair(questions[n].clip, questions[m].clip) for n, m in pairs)
    split_of = {clip: name for name, clips in splits.items() for clip in clips}

    def divided(pair: tuple[str, str]) -> bool:
        return split_of.get(pair[0]) != split_of.get(pair[1])

    clip_pairs = [
        {
            "clips": list(pair),
            "photos": count,
            "questions": asked[pair],
            "same_scene": scenes.get(pair[0], pair[0]) == scenes.get(pair[1], pair[1]),
            "splits": [split_of.get(pair[0]), split_of.get(pair[1])],
        }
        for pair, count in sorted(photos.items(), key=lambda item: (not divided(item[0]), -item[1], item[0]))
    ]
    record = {
        "photos": len(found.paths),
        "unreadable": found.unreadable,
        "uniform": found.uniform,
        "clip_pairs": len(clip_pairs),
        "clip_pairs_across_splits": sum(divided(pair) for pair in photos),
        "first": clip_pairs[:_KEPT],
        "question_pairs_within_clips": sum(count for pair, count in asked.items() if pair[0] == pair[1]),
        "question_pairs_between_clips": sum(count for pair, count in asked.items() if pair[0] != pair[1]),
        "question_pairs_across_splits": sum(count for pair, count in asked.items() if divided(pair)),
    }
    return record, sorted(photos)


def _photo_ids(question: Question) -> list[str]:
    """Ids of photos and videos; equal drawings may well be made of different footage."""
    return [str(medium.get("id")) for medium in question.media if medium.get("kind") in FOOTAGE]


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
