"""What is asked of one clip without one gate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.trust.asked import Asked


@dataclass(frozen=True, kw_only=True)
class Result:
    """One file of a run."""

    clip: str
    """Name of the footage."""
    kind: str
    """Of a hard clip; "" for an ordinary room."""
    gate: str
    """The gate that was off; "nothing" for none."""
    touched: bool
    """Whether anything is asked otherwise than with all gates."""
    code: str
    clips: Mapping[str, Mapping[str, Asked]]
    """By clip id (footage with a cut is several clips) and template."""

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> "Result":
        """As it was written."""
        clips = {
            id: {name: Asked(**{**one, "wrong": tuple(one["wrong"])}) for name, one in by_template.items()}
            for id, by_template in parts["clips"].items()
        }
        return cls(**{**parts, "clips": clips})

    def parts(self) -> Iterator[tuple[str, Asked]]:
        """(template, what is asked of it), clip by clip."""
        for by_template in self.clips.values():
            yield from by_template.items()

    def facts(self, *words: str) -> set[str]:
        """Ids of facts (they name their clip) of these verdicts."""
        return {id for _, one in self.parts() for id, word in one.facts.items() if word in words}

    @property
    def drawn(self) -> int:
        """Facts drawn from the media alone."""
        return sum(one.drawn for _, one in self.parts())

    @property
    def decided(self) -> int:
        """Those of them that are asked."""
        return sum(one.decided for _, one in self.parts())
