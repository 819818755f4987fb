"""Choices that offer to say "it cannot be determined": how many, so that by habit neither saying so nor never saying so
gains anything."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from templates.draft import Draft
from templates.unanswerable import is_unanswerable, offers_undetermined, without_undetermined


def drop(drafts: Sequence[Draft], indices: Sequence[int], surplus: int, seed: int) -> set[int]:
    """`surplus` of the questions at some indices; none if it is not above 0."""
    return set(drop_order(drafts, indices, seed)[: max(surplus, 0)])


def drop_order(drafts: Sequence[Draft], indices: Sequence[int], seed: int) -> list[int]:
    """Who goes first: questions whose fact is asked in another format too, then by a seeded hash."""
    formats = Counter(draft.fact_id for draft in drafts)

    def rank(index: int) -> tuple[int, str]:
        draft = drafts[index]
        return -formats[draft.fact_id], sha256(f"{seed}/{draft.fact_id}/{draft.format}".encode()).hexdigest()

    return sorted(indices, key=rank)


def surplus_unanswerable(drafts: Sequence[Draft], seed: int, share: float) -> set[int]:
    """Indices of choices that cannot be determined beyond their share of those of a template that offer to say so."""
    gone: set[int] = set()
    for answered, left_open in _offering(drafts):
        allowed = int(share / (1 - share) * len(answered) + 1e-9)
        gone |= drop(drafts, left_open, len(left_open) - allowed, seed)
    return gone


def offered_evenly(drafts: Sequence[Draft], seed: int, share: float) -> list[Draft]:
    """The same without that option where it would be right too rarely; it stays longest in clips that need it."""
    kept = list(drafts)
    for answered, left_open in _offering(drafts):
        clips = {drafts[index].clip_id for index in left_open}
        surplus = len(answered) - round((1 - share) / share * len(left_open))
        in_order = sorted(drop_order(drafts, answered, seed), key=lambda index: drafts[index].clip_id in clips)
        for index in in_order[: max(surplus, 0)]:
            kept[index] = replace(drafts[index], phrasing=without_undetermined(drafts[index].phrasing))
    return kept


def _offering(drafts: Sequence[Draft]) -> list[tuple[list[int], list[int]]]:
    """Choices of each template that offer it: those that can be answered, and those that cannot."""
    found: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for index, draft in enumerate(drafts):
        if offers_undetermined(draft.phrasing):
            found[draft.template][is_unanswerable(draft.answer)].append(index)
    return list(found.values())
