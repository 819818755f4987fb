"""What stands on both sides of a split: scenes, facts, photos, near-duplicate pictures and questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from spatial_engine.leaks.duplicates import near_duplicates
from spatial_engine.leaks.pictures import alike, looks
from templates.measured import Json
from templates.question import Question

_KEPT = 50


def divided(
    questions: Iterable[Question], scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> dict[str, Json]:
    """Scenes, facts and photos that more than one split has, each with its splits; clips that none or several name."""
    sides: dict[str, set[str]] = defaultdict(set)
    for name, clips in splits.items():
        for clip in clips:
            sides[clip].add(name)
    found: dict[str, dict[str, set[str]]] = {kind: defaultdict(set) for kind in ("scenes", "facts", "photos")}
    for clip, scene in scenes.items():
        found["scenes"][scene] |= sides[clip]
    for question in questions:
        found["facts"][question.fact_id] |= sides[question.clip]
        for medium in question.media:
            if medium.get("kind") == "frames":
                found["photos"][str(medium.get("id"))] |= sides[question.clip]
    record: dict[str, Json] = {}
    for kind, things in found.items():
        torn = {name: sorted(names) for name, names in sorted(things.items()) if len(names) > 1}
        record[kind] = {"count": len(torn), "first": dict(list(torn.items())[:_KEPT])}
    record["clips_in_no_split"] = sorted(clip for clip in scenes if not sides[clip])[:_KEPT]
    record["clips_in_several_splits"] = sorted(clip for clip, names in sides.items() if len(names) > 1)[:_KEPT]
    return record


def look_alikes(
    folder: Path, questions: Sequence[Question], scenes: Mapping[str, str], splits: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Json], list[tuple[str, str]]]:
    """Near-duplicate photos and questions for `audit.json`, and all pairs of clips that share such photos. Reads every
    photo: about two milliseconds each."""
    clips_of: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for medium in question.media:
            if medium.get("kind") == "frames" and medium.get("path"):
                clips_of[str(medium["path"])].add(question.clip)
    found = looks(folder, list(clips_of))
    same: dict[str, set[str]] = defaultdict(set)
    between: Counter[tuple[str, str]] = Counter()
    for a, b in alike(found).tolist():
        first, second = found.paths[a], found.paths[b]
        same[first].add(second)
        same[second].add(first)
        between.update({tuple(sorted((p, q))): 1 for p in clips_of[first] for q in clips_of[second] if p != q})  # type: ignore[misc]
    pairs = near_duplicates(questions, lambda path: same[path] | {path})
    asked = Counter(tuple(sorted((questions[n].clip, questions[m].clip))) for n, m in pairs)
    side = {clip: name for name, clips in splits.items() for clip in clips}

    def torn(pair: tuple[str, ...]) -> bool:
        return side.get(pair[0]) != side.get(pair[1])

    clips = [
        {
            "clips": list(pair),
            "photos": count,
            "questions": asked[pair],
            "same_scene": scenes.get(pair[0], pair[0]) == scenes.get(pair[1], pair[1]),
            "splits": [side.get(pair[0]), side.get(pair[1])],
        }
        for pair, count in sorted(between.items(), key=lambda item: (not torn(item[0]), -item[1], item[0]))
    ]
    record = {
        "photos": len(found.paths),
        "unreadable": found.unreadable,
        "plain": found.plain,
        "clips": clips[:_KEPT],
        "pairs_of_clips": len(clips),
        "pairs_of_clips_between_splits": sum(torn(pair) for pair in between),
        "questions_within_clips": sum(count for pair, count in asked.items() if pair[0] == pair[1]),
        "questions_between_clips": sum(count for pair, count in asked.items() if pair[0] != pair[1]),
        "questions_between_splits": sum(count for pair, count in asked.items() if torn(pair)),
    }
    return record, sorted(between)
