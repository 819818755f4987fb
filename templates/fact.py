"""The subject of a question in terms of the media alone, so that any scene of the footage can measure it again."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A template and its parameters: frames, pixels, object ids; nothing that depends on the choice of world."""

    template: str
    """Registry name of the template."""
    params: Mapping[str, Json]
    """JSON values only; pixels are full-size, rounded to 0.1."""

    def id(self, clip_id: str) -> str:
        """Stable identity of this fact about that clip: 16 hex digits."""
        text = json.dumps([clip_id, self.template, self.params], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def with_pixels(self, moved: Callable[[list[float]], list[float]]) -> "Fact":
        """The fact with every pixel replaced by `moved(pixel)`."""
        return replace(self, params={name: _with_pixels(part, moved) for name, part in self.params.items()})


def names_pixels(params: Mapping[str, Json]) -> bool:
    """Whether the parameters of a fact include pixels."""
    return any(map(_holds_pixels, params.values()))


def is_pixel(part: Json) -> bool:
    """Pixels are pairs of numbers with a fraction; frames and sizes are whole numbers."""
    return isinstance(part, list | tuple) and len(part) == 2 and all(isinstance(number, float) for number in part)


def _holds_pixels(part: Json) -> bool:
    return is_pixel(part) or (isinstance(part, list | tuple) and any(map(_holds_pixels, part)))


def _with_pixels(part: Json, moved: Callable[[list[float]], list[float]]) -> Json:
    if is_pixel(part):
        return moved(list(part))
    return [_with_pixels(each, moved) for each in part] if isinstance(part, list | tuple) else part
