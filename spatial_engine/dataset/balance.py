"""Balances the questions of all clips: drops near-duplicates and surplus answers, and arranges letters in blocks."""

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
    """Limits of the balance."""

    near_duplicate: float = 0.02
    """Marks closer than this share of the picture's diagonal are one point (the max tolerance of a marked point)."""
    max_text_share: float = 0.6
    """Largest share of a template's choices with the same text as right answer, ..."""
    max_text_gain: float = 0.15
    """... and at most this much above chance (1/k for k options)."""
    max_leaf_share: float | None = 0.3
    """Largest share of the questions in one leaf of the tree; None: no limit."""
    min_leaves: int = 4
    """The leaf limit applies to data sets with at least this many leaves."""
    leaf_limit_may_drop: float = 0.5
    """The leaf limit applies only if it drops at most this share of the questions: a leaf with one question must not
    empty the others."""
    unanswerable_share: float = 0.2
    """Share of a template's choices with the option "cannot be determined" in which that option is right: 1/5, as for
    each of five options. Then neither always choosing it nor never choosing it beats chance."""
    kept_one_sided: int = 2
    """Questions kept of a template whose questions all have the same answer."""


DEFAULTS = BalanceSettings()


@dataclass(frozen=True, kw_only=True)
class Arranged:
    """A draft that is kept."""

    draft: Draft
    order: tuple[int, ...] = ()
    """For a choice: the index of the phrasing's option at each letter."""

    @property
    def letter(self) -> str:
        """The right letter of a choice."""
        return LETTERS[self.order.index(self.draft.written)]


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """The kept drafts, sorted by (clip, fact, format), and the dropped ones by reason."""

    arranged: tuple[Arranged, ...]
    dropped: tuple[Refusal, ...]


def balance(
    drafts: Iterable[Draft],
    diagonals_px: Mapping[str, float],
    seed: int,
    settings: BalanceSettings = DEFAULTS,
) -> Balanced:
    """Drops surplus drafts and arranges the letters. `diagonals_px`: full-size picture diagonal by clip id. Independent
    of the order of its input."""
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
    return Balanced(arranged=_arranged(offered_evenly(kept, seed, settings.unanswerable_share), seed), dropped=refusals)


def _near_duplicates(drafts: Sequence[Draft], diagonals_px: Mapping[str, float], settings: BalanceSettings) -> set[int]:
    """The later drafts of pairs with equal template, clip, format, frames and answer, and nearly equal points."""
    seen: dict[object, list[Draft]] = defaultdict(list)
    gone = set()
    for index, draft in enumerate(drafts):
        near_px = settings.near_duplicate * diagonals_px[draft.clip_id]
        earlier = seen[_asks(draft)]
        if any(_same_points(draft, other, near_px) and _same_answer(draft, other) for other in earlier):
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
    """The parameters of a fact with None for floats: frames, ids and words remain."""
    if isinstance(value, dict):
        return {key: _without_pixels(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_pixels(item) for item in value]
    return None if isinstance(value, float) else value


def _same_points(a: Draft, b: Draft, near_px: float) -> bool:
    here, there = _points(a), _points(b)
    return here.shape == there.shape and bool(np.all(np.hypot(*(here - there).T) <= near_px))


def _points(draft: Draft) -> np.ndarray:
    photos = [medium for medium in draft.phrasing.media if isinstance(medium, Photo)]
    return np.array([mark.xy_px for photo in photos for mark in photo.marks], dtype=float).reshape(-1, 2)


def _same_answer(a: Draft, b: Draft) -> bool:
    """Whether numbers and points agree within their tolerances; `_asks` compares words."""
    return type(a.answer) is not type(b.answer) or a.answer.repeats(b.answer)


def _surplus_yes_no(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """Surplus yes/no questions: counts of yes and no of a template differ by at most one."""
    gone: set[int] = set()
    for counts in _by_words(drafts, options=False).values():
        (_, most), *others = _ranked(counts)
        least = len(others[0][1]) if others else 0
        gone |= drop(drafts, most, len(most) - max(least + 1 if least else settings.kept_one_sided, 1), seed)
    return gone


def _surplus_texts(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """Surplus choices whose right option has the most frequent text of the template."""
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
    """Options of a choice except "cannot be determined", which `offered_evenly` may remove."""
    return sum(option.value != UNDETERMINED for option in draft.phrasing.options)


def _surplus_leaves(drafts: Sequence[Draft], seed: int, settings: BalanceSettings) -> set[int]:
    """Questions of leaves above their largest share, unless that drops too many."""
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
    """The largest number of questions per leaf at which no leaf exceeds `share` of the remaining questions."""
    limit = bisect_left(
        range(1, max(counts) + 1), True, key=lambda most: most > share * sum(min(n, most) for n in counts) + 1e-9
    )
    return max(1, limit)  # the range starts at 1, so the index of the first excess is the last limit without one


def _thin(drafts: Sequence[Draft], indices: Sequence[int], surplus: int, seed: int) -> set[int]:
    """Drops `surplus` questions of a leaf, each from the answer that is then the most frequent, to keep the balance."""
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


def _arranged(drafts: Sequence[Draft], seed: int) -> tuple[Arranged, ...]:
    """Takes the place of the right option from shuffled blocks 0..k-1, by number of options; shuffles the others."""
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
    """An endless source of places; each block of k holds every place once."""
    rng = np.random.default_rng([seed, k])
    block: list[int] = []

    def next_place() -> int:
        if not block:
            block.extend(rng.permutation(k).tolist())
        return block.pop()

    return next_place
