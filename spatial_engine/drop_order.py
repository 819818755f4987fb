"""Which questions go first where some must."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from templates.draft import Draft


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
