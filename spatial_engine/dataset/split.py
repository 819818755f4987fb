"""Splits a dataset by scene, so that no scene of the training part is in the test part."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset, check_target, scenes_of
from spatial_engine.dataset.part import check_outside, commercial, write_part
from spatial_engine.errors import UsageError
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.leaks.splits import linked_clips, similar_photos

SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}
"""Approximate shares of the questions: groups of clips are not divided."""


@dataclass(frozen=True, kw_only=True)
class Divided:
    """The result of `split`."""

    parts: Mapping[str, Dataset]
    questions: Mapping[str, int]
    """Number of questions by part; 0: there is no group of clips for it, and it is not written."""
    groups: int
    """Number of groups of clips that stay together."""
    left_out: Mapping[str, int]
    """Number of omitted questions by reason."""


def split(
    dataset: Dataset | str | Path,
    out: str | Path,
    *,
    shares: Mapping[str, float] = SHARES,
    seed: int = 0,
    commercial_ok: bool = False,
) -> Divided:
    """Writes OUT/<name>, a dataset each. Clips of one scene, clips with a common fact or photo, and clips with
    near-duplicate photos stay together. The result depends on ids, shares and seed, not on the order of lines.

    Raises `UsageError` for negative shares or shares that are all 0, for an OUT inside the dataset, and if OUT/<name>
    is something else than a dataset.
    """
    whole, out = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset), Path(out)
    _check(whole, out, shares)
    questions, left_out = commercial(whole.questions) if commercial_ok else (list(whole.questions), {})
    record = whole.audit
    table = QuestionTable.of(questions)
    scenes = scenes_of(record, table.clip.known_texts)
    _, similar = similar_photos(whole.path, table, scenes, {})
    groups = linked_clips(table, scenes, similar)
    counts = Counter(question.clip for question in questions)
    side = _arranged(groups, counts, shares, seed)
    parts, sizes = {}, {}
    for name, share in shares.items():
        mine = [question for question in questions if side[question.clip] == name]
        clips = sorted(clip for clip, at in side.items() if at == name)
        sizes[name] = len(mine)
        if clips:
            how = {"name": name, "by": "scene", "share": share, "seed": seed, "groups": len(groups)}
            parts[name] = write_part(whole, out / name, mine, {name: clips}, {**how, "left_out": left_out})
    return Divided(parts=parts, questions=sizes, groups=len(groups), left_out=left_out)


def _arranged(
    groups: list[tuple[str, ...]], counts: Mapping[str, int], shares: Mapping[str, float], seed: int
) -> dict[str, str]:
    """The part of each clip: large groups first, each to the part with the largest deficit; ties by the seed."""
    sizes = {group: sum(counts[clip] for clip in group) for group in groups}
    total, whole = sum(sizes.values()), sum(shares.values())
    deficit = {name: share / whole * total for name, share in shares.items() if share > 0}
    side = {}

    def drawn(group: tuple[str, ...]) -> str:
        return sha256(f"{seed}/{group[0]}".encode()).hexdigest()

    for group in sorted(groups, key=lambda group: (-sizes[group], drawn(group))):
        name = max(deficit, key=lambda name: deficit[name])
        deficit[name] -= sizes[group]
        side.update(dict.fromkeys(group, name))
    return side


def _check(whole: Dataset, out: Path, shares: Mapping[str, float]) -> None:
    if not shares or min(shares.values()) < 0 or not 0 < sum(shares.values()) < float("inf"):
        given = ", ".join(f"{name} {share:g}" for name, share in shares.items())
        raise UsageError(f"invalid shares: {given}", "give numbers of at least 0, not all of them 0")
    check_outside(whole, out)
    for name in shares:
        check_target(out / name)
