"""Kinds of hints, as options name them."""

from collections.abc import Iterable

from spatial_engine.errors import UsageError
from templates.hints.kinds import LEAVES


def check_kinds(kinds: Iterable[str]) -> None:
    """Raises `UsageError` for a kind of hint that there is not."""
    if unknown := [kind for kind in kinds if kind not in LEAVES]:
        raise UsageError(f"no hints of the kind {', '.join(unknown)}", f"there is: {', '.join(LEAVES)}")
