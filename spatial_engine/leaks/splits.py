"""Which clips belong together, and what more than one split has: scenes, facts, photos, near-duplicates."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks.near_duplicates import near_duplicates, similar_pairs, thumbnails
from spatial_engine.leaks.question_table import QuestionTable
from templates.columns import Json

FOLDS = 5
_KEPT = 50
"""Entries of each list that `audit.json` holds."""


def linked_clips(
    table: QuestionTable, scenes: Mapping[str, str], similar: Iterable[tuple[str, str]] = ()
) -> list[tuple[str, ...]]:
    """Groups of clip ids that no split may divide, each sorted: clips of one scene, and clips that share a fact or a
    photo. `similar`: pairs of clips with near-duplicate photos.

    Clips that `scenes` does not name are scenes of their own. Every clip of `scenes` is in one group.
    """
    from scipy.cluster.hierarchy import DisjointSet

    clips, by_scene = table.clip.known_texts, dict[str, str]()
    links = [(clip, by_scene.setdefault(scene, clip)) for clip, scene in scenes.items()]
    for value, clip in _uses(table).values():
        order = np.lexsort((clip, value))
        shared = (value[order][1:] == value[order][:-1]) & (clip[order][1:] != clip[order][:-1])
        pairs = np.stack([clip[order][1:][shared], clip[order][:-1][shared]], axis=1)
        links += [(clips[a], clips[b]) for a, b in np.unique(pairs, axis=0).tolist()]
    joined = DisjointSet(table.clip.known_texts)
    for a, b in (*links, *similar):
        joined.add(a)
        joined.add(b)
        joined.merge(a, b)
    return sorted(tuple(sorted(group)) for group in joined.subsets())


def _uses(table: QuestionTable) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Facts and photos, each with the clip of a question that has it."""
    clip = table.clip.index
    return {"facts": (table.fact, clip), "photos": (table.photos.values, clip[table.photos.row])}


def folds_of(table: QuestionTable, scenes: Mapping[str, str], count: int = FOLDS) -> tuple[Int64[np.ndarray, "n"], str]:
    """The fold of each question, and what is never divided between folds: "scene", or "fact" where all is one scene.

    Folds hold about equally many questions; there are fewer than `count` if there are fewer groups.
    """
    from sklearn.model_selection import GroupKFold

    group_of = {clip: n for n, group in enumerate(linked_clips(table, scenes)) for clip in group}
    of_clip = np.array([group_of[clip] for clip in table.clip.known_texts], dtype=np.int64)
    groups, grouped_by = of_clip[table.clip.index], "scene"
    if len(np.unique(groups)) < 2:
        groups, grouped_by = np.unique(table.fact, return_inverse=True)[1], "fact"
    folds = np.zeros(len(table), dtype=np.int64)
    if (count := min(count, len(np.unique(groups)))) > 1:
        for fold, (_, test) in enumerate(GroupKFold(count).split(groups, groups=groups)):
            folds[test] = fold
    return folds, grouped_by


def across_splits(
    table: QuestionTable, scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> dict[str, Json]:
    """Scenes, facts and photos that more than one split has, each with its splits; clips in no split or in several."""
    splits_of: dict[str, set[str]] = defaultdict(set)
    for name, clips in splits.items():
        for clip in clips:
            splits_of[clip].add(name)
    by_scene: dict[str, set[str]] = defaultdict(set)
    for clip, scene in scenes.items():
        by_scene[scene] |= splits_of[clip]
    found = {"scenes": by_scene}
    for kind, (values, users) in _uses(table).items():
        found[kind] = _splits_of_values(values, users, [splits_of[clip] for clip in table.clip.known_texts])
    record: dict[str, Json] = {}
    for kind, members in found.items():
        divided = {name: sorted(names) for name, names in sorted(members.items()) if len(names) > 1}
        record[kind] = {"count": len(divided), "first": dict(list(divided.items())[:_KEPT])}
    record["clips_in_no_split"] = sorted(clip for clip in scenes if not splits_of[clip])[:_KEPT]
    record["clips_in_several_splits"] = sorted(clip for clip, names in splits_of.items() if len(names) > 1)[:_KEPT]
    return record


def _splits_of_values(
    value: np.ndarray, clip: np.ndarray, splits_of: Sequence[AbstractSet[str]]
) -> dict[str, set[str]]:
    """The splits of all clips that have a value, for values that are in more than one."""
    kinds: dict[frozenset[str], int] = {}
    code_of = np.array([kinds.setdefault(frozenset(names), len(kinds)) for names in splits_of], dtype=np.int64)
    order = np.lexsort((code_of[clip], value))
    value, code = value[order], code_of[clip][order]
    divided = np.isin(code, [k for k, names in enumerate(kinds) if len(names) > 1])
    differ = (value[1:] == value[:-1]) & (code[1:] != code[:-1])
    divided[1:] |= differ
    divided[:-1] |= differ
    found: dict[str, set[str]] = defaultdict(set)
    sets = [*kinds]
    for row in np.flatnonzero(divided).tolist():
        found[value[row].decode()] |= sets[code[row]]
    return found


def similar_photos(
    folder: Path, table: QuestionTable, scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Json], list[tuple[str, str]]]:
    """Near-duplicate photos and questions for `audit.json`, and all pairs of clips that share such photos. Reads every
    photo: about two milliseconds each."""
    clips_of: dict[str, set[str]] = defaultdict(set)
    clips = table.clip.known_texts
    stills = table.files.values[table.stills.values]
    for path, clip in zip(stills, table.clip.index[table.files.row[table.stills.values]], strict=True):
        clips_of[path.decode()].add(clips[clip])
    found = thumbnails(folder, list(clips_of))
    same: dict[str, set[str]] = defaultdict(set)
    photos: Counter[tuple[str, str]] = Counter()
    for a, b in similar_pairs(found).tolist():
        first, second = found.paths[a], found.paths[b]
        same[first].add(second)
        same[second].add(first)
        photos.update({_pair(p, q): 1 for p in clips_of[first] for q in clips_of[second] if p != q})
    pairs = table.clip.index[near_duplicates(table, lambda path: same[path] | {path})]
    asked = Counter(_pair(clips[n], clips[m]) for n, m in pairs.tolist())
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


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
