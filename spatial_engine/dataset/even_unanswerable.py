"""Balances choices with the option "it cannot be determined": always choosing it and never choosing it both score
chance."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from templates.draft import Draft
from templates.unanswerable import is_unanswerable, offers_undetermined, without_undetermined


def drop(drafts: Sequence[Draft], indices: Sequence[int], surplus: int, seed: int) -> set[int]:
    """`surplus` of the given indices, in `drop_order`; none if `surplus` is 0 or less."""
    return set(drop_order(drafts, indices, seed)[: max(surplus, 0)])


def drop_order(drafts: Sequence[Draft], indices: Sequence[int], seed: int) -> list[int]:
    """The indices in the order of dropping: first questions whose fact is asked in other formats too, then by seeded
    hash."""
    formats = Counter(draft.fact_id for draft in drafts)

    def rank(index: int) -> tuple[int, str]:
        draft = drafts[index]
        return -formats[draft.fact_id], sha256(f"{seed}/{draft.fact_id}/{draft.format}".encode()).hexdigest()

    return sorted(indices, key=rank)


def surplus_unanswerable(drafts: Sequence[Draft], seed: int, share: float) -> set[int]:
    """Indices of unanswerable choices above their share of a template's choices with that option."""
    gone: set[int] = set()
    for answerable, unanswerable in _offering(drafts):
        allowed = int(share / (1 - share) * len(answerable) + 1e-9)
        gone |= drop(drafts, unanswerable, len(unanswerable) - allowed, seed)
    return gone


def offered_evenly(drafts: Sequence[Draft], seed: int, share: float) -> list[Draft]:
    """The drafts, without that option where it would be right too rarely. Clips with unanswerable choices keep it
    longest."""
    kept = list(drafts)
    for answerable, unanswerable in _offering(drafts):
        clips = {drafts[index].clip_id for index in unanswerable}
        surplus = len(answerable) - round((1 - share) / share * len(unanswerable))
        in_order = sorted(drop_order(drafts, answerable, seed), key=lambda index: drafts[index].clip_id in clips)
        for index in in_order[: max(surplus, 0)]:
            kept[index] = replace(drafts[index], phrasing=without_undetermined(drafts[index].phrasing))
    return kept


def _offering(drafts: Sequence[Draft]) -> list[tuple[list[int], list[int]]]:
    """Indices of the choices with that option, by template: answerable and unanswerable ones."""
    found: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for index, draft in enumerate(drafts):
        if offers_undetermined(draft.phrasing):
            found[draft.template][is_unanswerable(draft.answer)].append(index)
    return list(found.values())
