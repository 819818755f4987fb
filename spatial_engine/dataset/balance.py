"""Balances the questions of all clips: drops near-duplicates and surplus answers, and arranges letters in blocks.

It works on small keys: nothing is in words yet.
"""

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise, starmap

import numpy as np
from jaxtyping import Bool, Float64, Int8, Int16, Int32

from spatial_engine.dataset.clip_keys import Near
from spatial_engine.dataset.keys import Keys, groups
from spatial_engine.dataset.target import Target
from templates.asked import Choose
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class BalanceSettings:
    """Limits of the balance."""

    near_duplicate: float = 0.02
    """Marks closer than this share of the picture's diagonal are one point (the max tolerance of a marked point)."""
    near_frames: float = 0.02
    """Photos closer in time than this share of the frames that are asked about in the clip are one photo."""
    max_text_share: float = 0.6
    """Largest share of a template's choices with the same text as right answer. `max_text_gain` limits it too."""
    max_text_gain: float = 0.1
    """The same share exceeds chance (1/k for k options) by at most this."""
    max_number_share: float = 0.3
    """Largest share of a template's numbers within whose tolerance one constant lies, ..."""
    enough_for_numbers: int = 30
    """... in a dataset with at least this many of them."""
    max_count_share: float = 0.4
    """Largest share of a template's questions with the same count as right answer."""
    max_leaf_share: float | None = 0.3
    """Largest share of the questions in one leaf of the tree; None: no limit."""
    min_leaves: int = 4
    """The leaf limit applies to datasets with at least this many leaves."""
    leaf_limit_may_drop: float = 0.5
    """The leaf limit applies only if it drops at most this share of the questions: a leaf with one question must not
    empty the others."""
    unanswerable_share: float = 0.2
    """Share of a template's choices with the option "cannot be determined" in which that option is right: 1/5, as for
    each of five options. Then neither always choosing it nor never choosing it beats chance."""
    enough_for_options: int = 30
    """In a dataset with at least this many choices of a template, a word that is never right is no option: nobody who
    has seen the dataset would choose it."""
    kept_one_sided: int = 2
    """Questions kept of a template whose questions all have the same answer."""

    @property
    def near(self) -> Near:
        """What counts as nearly the same fact."""
        return Near(share=self.near_duplicate, frames=self.near_frames)


DEFAULTS = BalanceSettings()
Gone = Bool[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The questions about a clip that are kept, in their order."""

    clip_id: str
    table: Int32[np.ndarray, "n"]
    """Index of the question's table among those of the clip."""
    row: Int32[np.ndarray, "n"]
    """Its row in that table."""
    order: Int8[np.ndarray, "n k"]
    """For a choice: the index of the offered option at each letter. -1 ends it."""
    prompt: Int16[np.ndarray, "n"]
    """Index of the prompt."""

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.row)

    def rows(self) -> Iterator[tuple[int, int, tuple[int, ...], int]]:
        """Table, row, order and prompt of each question."""
        orders = (tuple(option for option in order if option >= 0) for order in self.order.tolist())
        return zip(self.table.tolist(), self.row.tolist(), orders, self.prompt.tolist(), strict=True)

    @property
    def digest(self) -> str:
        """16 hex digits of all that it says."""
        columns = (self.table, self.row, self.order, self.prompt)
        return sha256(b"".join(column.tobytes() for column in columns)).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Balanced:
    """The kept questions, sorted by (clip, fact, format), and how many were dropped."""

    keys: Keys
    order: Int8[np.ndarray, "n k"]
    prompt: Int16[np.ndarray, "n"]
    """As in `Selection`."""
    dropped: Mapping[tuple[str, str], int]
    """Number of questions by leaf and reason."""
    target: Json = None
    """What was drawn for a target (`Target.record`)."""

    def selections(self) -> Iterator[Selection]:
        """Clip by clip; clips without questions are left out."""
        clips, starts = np.unique(self.keys.clip, return_index=True)
        for clip, own in zip(clips.tolist(), starmap(slice, pairwise([*starts, len(self.keys)])), strict=True):
            order = self.order[own]
            yield Selection(
                clip_id=self.keys.clip_ids[clip],
                table=self.keys.table[own],
                row=self.keys.row[own],
                order=order[:, : int((order >= 0).sum(axis=1).max())],
                prompt=self.prompt[own],
            )


def balance(keys: Keys, seed: int, settings: BalanceSettings = DEFAULTS, target: Target | None = None) -> Balanced:
    """Drops surplus questions, draws those of the target, arranges the letters and chooses the prompts."""
    dropped = Counter[tuple[str, str]]()
    yes_and_no, words = "dropped to balance yes and no", "dropped to balance the words of right answers"
    rules: tuple[tuple[str, Callable[[Keys], Gone]], ...] = (
        ("near-duplicate of another question", lambda k: k.repeats),
        (yes_and_no, lambda k: _surplus_yes_no(k, k.situation, settings)),
        (yes_and_no, lambda k: _surplus_yes_no(k, k.template, settings)),
        (words, lambda k: _surplus_words(k, k.situation, settings)),
        (words, lambda k: _surplus_words(k, k.template, settings)),
        ("dropped to balance numbers", lambda k: _surplus_numbers(k, settings)),
        ("dropped to balance counts", lambda k: _surplus_counts(k, settings)),
        ("dropped to keep one leaf from dominating", lambda k: _surplus_leaves(k, settings)),
        ("dropped to keep unanswerable rare", lambda k: _surplus_unanswerable(k, settings.unanswerable_share)),
    )
    for reason, rule in rules:
        keys = _without(rule(keys), keys, reason, dropped)
    drawn = None
    if target is not None:
        kept = target.draw(keys)
        drawn = target.record(keys, kept)
        keys = _without(~kept, keys, "not drawn: the set is limited", dropped)
    choose = even_choice(seed)
    prompts = zip(keys.prompt_key.tolist(), keys.prompts.tolist(), strict=True)
    prompt = [choose(keys.prompt_keys[key], count) for key, count in prompts]
    order = _arranged(keys, seed, settings)
    return Balanced(keys=keys, order=order, prompt=np.array(prompt, dtype=np.int16), dropped=dropped, target=drawn)


def _without(gone: Gone, keys: Keys, reason: str, dropped: Counter[tuple[str, str]]) -> Keys:
    """The other questions; those that are gone are counted."""
    for kind, count in zip(*np.unique(keys.kind[gone], return_counts=True), strict=True):
        dropped[keys.kinds[kind].ability, reason] += int(count)
    return keys.take(~gone) if gone.any() else keys


def _surplus_yes_no(keys: Keys, among: np.ndarray, settings: BalanceSettings) -> Gone:
    """Surplus yes/no questions: counts of yes and no differ by at most one among questions with equal `among`."""
    gone = np.zeros(len(keys), dtype=bool)
    for by_word in _by_words(keys, keys.yes_no, among):
        most, *others = by_word
        least = len(others[0]) if others else 0
        kept = max(least + 1 if least else settings.kept_one_sided, 1)
        gone[keys.first_dropped(most, len(most) - kept)] = True
    return gone


def _surplus_words(keys: Keys, among: np.ndarray, settings: BalanceSettings) -> Gone:
    """Surplus choices whose right option has words that are too frequent among questions with equal `among`."""
    gone = np.zeros(len(keys), dtype=bool)
    for by_word in _by_words(keys, keys.options > 0, among):
        options = min(int(keys.options[rows].min()) for rows in by_word)
        share = min(settings.max_text_share, 1 / options + settings.max_text_gain)
        kept = max(_limit([len(rows) for rows in by_word], share), settings.kept_one_sided)
        for rows in by_word:
            gone[keys.first_dropped(rows, len(rows) - kept)] = True
    return gone


def _surplus_counts(keys: Keys, settings: BalanceSettings) -> Gone:
    """Questions whose right answer is a count that is too frequent in the template."""
    gone = np.zeros(len(keys), dtype=bool)
    for by_count in _by_words(keys, keys.counts, keys.template):
        kept = max(_limit([len(rows) for rows in by_count], settings.max_count_share), settings.kept_one_sided)
        for rows in by_count:
            gone[keys.first_dropped(rows, len(rows) - kept)] = True
    return gone


def _surplus_numbers(keys: Keys, settings: BalanceSettings) -> Gone:
    """Questions whose answer is near the one number that is right most often, where that is too often."""
    gone = np.zeros(len(keys), dtype=bool)
    rows = np.flatnonzero(np.isfinite(keys.numbers[:, 0]) & (keys.options == 0))
    for group in groups(keys.template[rows]):
        left, share = rows[group], settings.max_number_share
        while len(left) >= settings.enough_for_numbers:
            near = near_best_constant(keys.numbers[left])
            surplus = int(np.ceil((near.sum() - share * len(left)) / (1 - share) - 1e-9))
            if surplus <= 0:
                break
            gone[keys.first_dropped(left[near], surplus)] = True
            left = left[~gone[left]]
    return gone


def near_best_constant(numbers: Float64[np.ndarray, "n 3"]) -> Gone:
    """The numbers within whose tolerance the answer lies that is right for most of them."""
    value, tolerance, period = numbers.T
    turns = np.nan_to_num(period) * np.array([[-1], [0], [1]])[: 3 if np.isfinite(period).any() else 1]
    low, high = (np.sort((value + turns + side * tolerance).ravel()) for side in (-1, 1))
    right = np.searchsorted(low, value, side="right") - np.searchsorted(high, value)
    away = np.abs(value[right.argmax()] - value)
    return np.asarray(np.minimum(away, np.where(np.isfinite(period), period - away, np.inf)) <= tolerance)


def _by_words(keys: Keys, which: Gone, among: np.ndarray) -> list[list[np.ndarray]]:
    """By value of `among`: the rows of each word of the right answer, the most frequent first."""
    rows = np.flatnonzero(which & (keys.words > 0))
    found: dict[int, list[np.ndarray]] = defaultdict(list)
    for group in groups(among[rows], keys.words[rows]):
        found[int(among[rows[group[0]]])].append(rows[group])
    return [sorted(by_word, key=lambda group: -len(group)) for by_word in found.values()]


def _surplus_leaves(keys: Keys, settings: BalanceSettings) -> Gone:
    """Questions of leaves above their largest share, unless that drops too many."""
    gone, leaves = np.zeros(len(keys), dtype=bool), groups(keys.leaf)
    if settings.max_leaf_share is None or len(leaves) < settings.min_leaves:
        return gone
    counts = [len(rows) for rows in leaves]
    limit = _limit(counts, settings.max_leaf_share)
    if sum(min(n, limit) for n in counts) < (1 - settings.leaf_limit_may_drop) * len(keys):
        return gone
    for rows in leaves:
        gone[_thinned(keys, rows, len(rows) - limit)] = True
    return gone


def _limit(counts: Sequence[int], share: float) -> int:
    """The largest size of groups at which no group exceeds `share` of all that remain; at least 1."""
    limit = bisect_left(
        range(1, max(counts) + 1), True, key=lambda most: most > share * sum(min(n, most) for n in counts) + 1e-9
    )
    return max(1, limit)  # the range starts at 1, so the index of the first excess is the last limit without one


def _thinned(keys: Keys, rows: np.ndarray, surplus: int) -> list[int]:
    """`surplus` rows of a leaf, each from the answer that is then the most frequent, to keep the balance."""
    if surplus <= 0:
        return []
    rows = keys.in_order_of_dropping(rows)
    by_answer = groups(keys.template[rows], keys.format[rows], keys.words[rows])
    heap = [(-len(group), k, 0) for k, group in enumerate(by_answer)]
    heapq.heapify(heap)
    gone = []
    for _ in range(surplus):
        left, k, taken = heapq.heappop(heap)
        gone.append(int(rows[by_answer[k][taken]]))
        heapq.heappush(heap, (left + 1, k, taken + 1))
    return gone


def _surplus_unanswerable(keys: Keys, share: float) -> Gone:
    """Unanswerable choices above their share of a template's choices that offer "cannot be determined"."""
    gone = np.zeros(len(keys), dtype=bool)
    for answerable, unanswerable in _offering(keys):
        allowed = int(share / (1 - share) * len(answerable) + 1e-9)
        gone[keys.first_dropped(unanswerable, len(unanswerable) - allowed)] = True
    return gone


def _no_longer_offered(keys: Keys, share: float) -> Gone:
    """Choices that lose the option "cannot be determined", where it would be right too rarely. Clips with unanswerable
    choices keep it longest."""
    gone = np.zeros(len(keys), dtype=bool)
    for answerable, unanswerable in _offering(keys):
        surplus = len(answerable) - round((1 - share) / share * len(unanswerable))
        in_order = keys.in_order_of_dropping(answerable)
        needed = np.isin(keys.clip[in_order], keys.clip[unanswerable])
        gone[in_order[np.argsort(needed, kind="stable")][: max(surplus, 0)]] = True
    return gone


def _offering(keys: Keys) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of the choices with that option, by template: answerable and unanswerable ones."""
    rows = np.flatnonzero(keys.offers)
    found = [rows[group] for group in groups(keys.template[rows])]
    return [(group[~keys.unanswerable[group]], group[keys.unanswerable[group]]) for group in found]


def _never_right(keys: Keys, enough: int) -> dict[int, set[int]]:
    """By template whose choices all offer the same words: the indices of those that are right in none."""
    found = {}
    rows = np.flatnonzero((keys.options > 0) & keys.fixed)
    for own in (rows[group] for group in groups(keys.template[rows])):
        right = {*keys.right[own].tolist()}
        if len(own) >= enough and len(right) > 1:
            found[int(keys.template[own[0]])] = {*range(int(keys.options[own].max()))} - right
    return found


def _arranged(keys: Keys, seed: int, settings: BalanceSettings) -> Int8[np.ndarray, "n k"]:
    """Takes the place of the right option from shuffled blocks 0..k-1, by number of options; shuffles the others."""
    offered = keys.offers & ~_no_longer_offered(keys, settings.unanswerable_share)
    never_right = _never_right(keys, settings.enough_for_options)
    orders = np.full((len(keys), int((keys.options + offered).max(initial=0))), -1, dtype=np.int8)
    place_of, rows = even_choice(seed), np.flatnonzero(keys.options)
    columns = (keys.template, keys.options + offered, keys.right, keys.draw)
    for row, template, count, right, draw in zip(rows.tolist(), *(c[rows].tolist() for c in columns), strict=True):
        left_out = never_right.get(template, set())
        place = place_of("letter", count - len(left_out))
        others = [option for option in range(count) if option != right and option not in left_out]
        others = [others[k] for k in _shuffled(len(others), draw)]
        orders[row, : len(others) + 1] = (*others[:place], right, *others[place:])
    return orders


def _shuffled(count: int, draw: float) -> list[int]:
    """The order of `count` things that a number from 0 to 1 stands for (a factorial base)."""
    left, order = list(range(count)), []
    for k in range(count, 0, -1):
        draw *= k
        order.append(left.pop(int(draw)))
        draw -= int(draw)
    return order


def even_choice(seed: int) -> Choose:
    """A choice that takes each of a key's indices equally often, in shuffled blocks."""
    blocks: dict[tuple[str, int], Iterator[int]] = {}

    def choose(key: str, count: int) -> int:
        if (key, count) not in blocks:
            blocks[key, count] = _blocks(count, np.random.default_rng([seed, count, *key.encode()]))
        return next(blocks[key, count])

    return choose


def _blocks(count: int, rng: np.random.Generator) -> Iterator[int]:
    """Without end: each block of `count` holds every index once."""
    while True:
        yield from rng.permutation(count).tolist()
