"""One pass over all clips: near-duplicates go, answers are evened out by dropping, letters are arranged in blocks."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spatial_engine.dataset.even_unanswerable import drop, drop_order, offered_evenly, surplus_unanswerable
from templates.draft import Draft, Refusal
from templates.measured import Json
from templates.question import LETTERS, Photo
from templates.unanswerable import UNDETERMINED

Group = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BalanceSettings:
    """How far the pass goes."""

    near_duplicate: float = 0.02
    """Marks closer than this share of the picture's diagonal are one point (a marked point's own tolerance cap)."""
    max_text_share: float = 0.6
    """No text may be the right answer to more than this share of a template's choices: a blind guess stays poor; ..."""
    max_text_gain: float = 0.15
    """... nor to more than chance (1/k of k options) and this."""
    max_leaf_share: float | None = 0.3
    """No leaf of the tree holds more than this share of the questions; None: no such limit."""
    min_leaves: int = 4
    """The leaf limit is for data sets that cover at least this many leaves."""
    leaf_limit_may_drop: float = 0.5
    """If the leaf limit would cost more than this share of the questions it is not applied: a leaf with one question
    shall not empty the others."""
    unanswerable_share: float = 0.2
    """Of a template's choices that offer to say that it cannot be determined, so many are right to: as many as for each
    other of five options, so that neither to say so nor never to say so gains anything."""
    kept_one_sided: int = 2
    """Where every question of a template has one and the same answer, this many stay."""


DEFAULTS = BalanceSettings()


@dataclass(frozen=True, kw_only=True)
class Arranged:
    """A draft that stays."""

    draft: Draft
    order: tuple[int, ...] = ()
    """For a choice: which of the phrasing's options stands at each letter."""

    @property
    def letter(self) -> str:
        """The right letter of a choice."""
        return LETTERS[self.order.index(self.draft.written)]


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """What stays, sorted by (clip, fact, format), and what was dropped, by reason."""

    arranged: tuple[Arranged, ...]
    dropped: tuple[Refusal, ...]


def balance(
    drafts: Iterable[Draft],
    diagonals_px: Mapping[str, float],
    seed: int,
    settings: BalanceSettings = DEFAULTS,
) -> Balanced:
    """Drops and deals. `diagonals_px`: full-size picture diagonal by clip id. Depends on no order of its input."""
    kept = sorted(drafts, key=lambda d: (d.clip_id, d.fact_id, d.format))
    dropped: Counter[tuple[str, str, str, str, str]] = Counter()
    rules: dict[str, Callable[[Sequence[Draft]], set[int]]] = {
        "near-duplicate of another question": lambda ds: _near_duplicates(ds, diagonals_px, settings),
        "dropped to balance yes and no": lambda ds: _surplus_yes_no(ds, seed, settings),
        "dropped to balance the words of right answers": lambda ds: _surplus_texts(ds, seed, settings),
        "dropped to keep one leaf from dominating": lambda ds: _surplus_leaves(ds, seed, settings),
        "dropped to keep unanswerable rare": lambda ds: surplus_unanswerable(ds, seed, settings.unanswerable_share),
    }
    for reason, rule in rules.items():
        gone = rule(kept)
        dropped.update((d.clip_id, d.template, d.ability, d.format, reason) for i, d in enumerate(kept) if i in gone)
        kept = [d for i, d in enumerate(kept) if i not in gone]
    refusals = tuple(
        Refusal(clip_id=clip, template=template, ability=ability, format=format, reason=reason, count=count)
        for (clip, template, ability, format, reason), count in sorted(dropped.items())
    )
    return Balanced(arranged=_deal(offered_evenly(kept, seed, settings.unanswerable_share), seed), dropped=refusals)


def _near_duplicates(drafts: Sequence[Draft], diagonals_px: Mapping[str, float], settings: BalanceSettings) -> set[int]:
    """Later ones of a pair with one template, clip, format, frames and answer, and points hardly apart."""
    seen: dict[object, list[Draft]] = defaultdict(list)
    gone = set()
    for index, draft in enumerate(drafts):
        apart_px = settings.near_duplicate * diagonals_px[draft.clip_id]
        earlier = seen[_asks(draft)]
        if any(_same_points(draft, other, apart_px) and _same_answer(draft, other) for other in earlier):
            gone.add(index)
        else:
            earlier.append(draft)
    return gone


def _asks(draft: Draft) -> tuple[object, ...]:
    photos = tuple(
        (medium.frame, tuple(mark.text for mark in medium.marks)) if isinstance(medium, Photo) else None
        for medium in draft.phrasing.media
    )
    asked = json.dumps(_without_pixels(dict(draft.fact.params)), sort_keys=True)
    return draft.clip_id, draft.template, draft.format, asked, photos, draft.right_words


def _without_pixels(value: Json) -> Json:
    """The parameters of a fact without its floats: frames, ids and words remain."""
    if isinstance(value, dict):
        return {key: _without_pixels(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_pixels(item) for item in value]
    return None if isinstance(value, float) else value


def _same_points(a: Draft, b: Draft, apart_px: float) -> bool:
    here, there = _points(a), _points(b)
    return here.shape == there.shape and bool(np.all(np.hypot(*(here - there).T) <= apart_px))


def _points(draft: Draft) -> np.ndarray:
    photos = [medium for medium in draft.phrasing.media if isinstance(medium, Photo)]
    return np.array([mark.xy_px for photo in photos for mark in photo.marks], dtype=float).reshape(-1, 2)


def _same_answer(a: Draft, b: Draft) -> bool:
    """Words of labels are compared by `_asks`."""
    return type(a.answer) is not type(b.answer) or a.answer.repeats(b.answer)


def _surplus_yes_no(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """Yes and no of a template differ by at most one."""
    gone: set[int] = set()
    for counts in _by_words(drafts, options=False).values():
        (_, most), *others = _ranked(counts)
        least = len(others[0][1]) if others else 0
        gone |= drop(drafts, most, len(most) - max(least + 1 if least else settings.kept_one_sided, 1), seed)
    return gone


def _surplus_texts(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """No text is the right option of too many choices of a template."""
    gone: set[int] = set()
    for counts in _by_words(drafts, options=True).values():
        (_, most), *others = _ranked(counts)
        rest = sum(len(indices) for _, indices in others)
        options = min(_answers_offered(drafts[index]) for indices in counts.values() for index in indices)
        share = min(settings.max_text_share, 1 / options + settings.max_text_gain)
        gone |= drop(
            drafts, most, len(most) - max(int(share / (1 - share) * rest + 1e-9), settings.kept_one_sided), seed
        )
    return gone


def _answers_offered(draft: Draft) -> int:
    """Options of a choice, but for the one to abstain: it may yet be taken away."""
    return sum(option.value != UNDETERMINED for option in draft.phrasing.options)


def _surplus_leaves(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """No leaf holds more than its share, if that can be had at a fair price."""
    leaves: dict[str, list[int]] = defaultdict(list)
    for index, draft in enumerate(drafts):
        leaves[draft.ability].append(index)
    counts = [len(indices) for indices in leaves.values()]
    if settings.max_leaf_share is None or len(leaves) < settings.min_leaves:
        return set()
    limit = _leaf_limit(counts, settings.max_leaf_share)
    if sum(min(n, limit) for n in counts) < (1 - settings.leaf_limit_may_drop) * len(drafts):
        return set()
    return set().union(*(_thin(drafts, indices, len(indices) - limit, seed) for indices in leaves.values()))


def _leaf_limit(counts: Sequence[int], share: float) -> int:
    """The largest number of questions a leaf may keep so that none exceeds `share` of what then remains."""
    too_many = bisect_left(
        range(1, max(counts) + 1), True, key=lambda limit: limit > share * sum(min(n, limit) for n in counts) + 1e-9
    )
    return max(1, too_many)  # the range starts at 1: its place of the first excess is the last limit without


def _thin(drafts: Sequence[Draft], indices: Sequence[int], surplus: int, seed: int) -> set[int]:
    """Drops `surplus` of a leaf, one by one from whichever answer is then the most frequent: balance survives."""
    groups: dict[Group, list[int]] = defaultdict(list)
    for index in drop_order(drafts, indices, seed):
        draft = drafts[index]
        groups[draft.template, draft.format, draft.right_words or ""].append(index)
    gone: set[int] = set()
    for _ in range(surplus):
        gone.add(max(sorted(groups.items()), key=lambda item: len(item[1]))[1].pop(0))
    return gone


def _by_words(drafts: Sequence[Draft], *, options: bool) -> dict[str, dict[str, list[int]]]:
    """Indices by template and words of the right answer, of drafts with options or without."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, draft in enumerate(drafts):
        if bool(draft.phrasing.options) == options and draft.right_words is not None:
            found[draft.template][draft.right_words].append(index)
    return found


def _ranked(counts: Mapping[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))


def _deal(drafts: Sequence[Draft], seed: int) -> tuple[Arranged, ...]:
    """Deals the right option's place from shuffled blocks 0..k-1, per number of options; the others are shuffled."""
    places: dict[int, Callable[[], int]] = {}
    arranged = []
    for draft in drafts:
        k = len(draft.phrasing.options)
        if not k:
            arranged.append(Arranged(draft=draft))
            continue
        place = places.setdefault(k, _blocks(k, seed))()
        rng = np.random.default_rng([seed, int(draft.fact_id, 16)])
        others = rng.permutation([option for option in range(k) if option != draft.phrasing.answer]).tolist()
        arranged.append(Arranged(draft=draft, order=(*others[:place], draft.phrasing.answer, *others[place:])))
    return tuple(arranged)


def _blocks(k: int, seed: int) -> Callable[[], int]:
    """An endless source of places in which every run of k holds each once."""
    rng = np.random.default_rng([seed, k])
    block: list[int] = []

    def next_place() -> int:
        if not block:
            block.extend(rng.permutation(k).tolist())
        return block.pop()

    return next_place
