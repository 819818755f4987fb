"""What is asked, in terms of the media alone, so that any scene of the same footage can measure it again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A template and its parameters: frames, pixels, object ids. Nothing that depends on a choice of world."""

    template: str
    """Registry name of the template."""
    params: Mapping[str, Json]
    """JSON values only; pixels are full-size, rounded to 0.1."""

    def id(self, clip_id: str) -> str:
        """Stable identity of this fact about that clip: 16 hex digits."""
        text = json.dumps([clip_id, self.template, self.params], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
