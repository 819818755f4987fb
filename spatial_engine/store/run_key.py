"""Cache key of a signal: a hash over all that its expert can read."""

import hashlib
import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from typing import Any

from experts.clip import Clip, OpeningOptions
from experts.expert import Expert
from spatial_engine.errors import UsageError
from spatial_engine.store.signal_file import to_json

CLOCK = "times_s"
"""Stands in `Expert.options` where an expert reads the clip's time stamps."""


def run_key(
    clip: Clip,
    expert: Expert,
    needs: Mapping[str, str],
    failed: AbstractSet[str] = frozenset(),
    weights: str | None = None,
) -> str:
    """Names what an expert makes of a clip: 16 hex digits over everything that it can read.

    `needs` are keys of signals by name, `failed` those of them whose expert failed, `weights` what names its weights.
    """
    view = declared_view(clip, expert)
    parts = {
        "clip": clip.id,
        "options": {name: _keyed(getattr(view.options, name)) for name in expert.options - {CLOCK}},
        "clock": view.times_s.tolist() if view.times_s is not None else None,
        "expert": [expert.name, expert.version, to_json(expert.settings), weights],
        "needs": {name: ("failed:" if name in failed else "") + key for name, key in needs.items()},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _keyed(value: Any) -> Any:
    """An option as JSON, without the fields that do not count in a comparison, such as the place of a file."""
    if not is_dataclass(value):
        return to_json(value)
    return {field.name: to_json(getattr(value, field.name)) for field in fields(value) if field.compare}


def declared_view(clip: Clip, expert: Expert) -> Clip:
    """The clip as the expert may see it: options that it does not declare have their defaults, so that its key
    can miss none of what it reads. Raises `UsageError` for a declared name that is no option."""
    known = {field.name for field in fields(OpeningOptions)}
    if unknown := expert.options - known - {CLOCK}:
        allowed = ", ".join(sorted(known | {CLOCK}))
        raise UsageError(f"expert {expert.name} declares options {sorted(unknown)}", f"there are: {allowed}")
    options = OpeningOptions(**{name: getattr(clip.options, name) for name in expert.options & known})
    return replace(clip, options=options, times_s=clip.times_s if CLOCK in expert.options else None)
