"""The hints of a dataset's questions, from the signals of their clips."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from experts.clip import Clip
from spatial_engine.dataset import media
from templates.columns import Json
from templates.hints.beside import hints_beside
from templates.hints.hint import Captioned, Hint, Scenes
from templates.media import Medium
from templates.question import Question

HintsBeside = Callable[[Question], Mapping[str, Hint]]
"""The hints of a question, by kind."""


@dataclass(frozen=True, kw_only=True)
class HintsFromSignals:
    """Hints of some kinds: facts that a question with this confidence would ask about."""

    scenes: Callable[[str], Scenes]
    """Those of a clip."""
    kinds: Sequence[str]
    min_confidence: float

    def __call__(self, question: Question) -> Mapping[str, Hint]:
        """The hints of a question, by kind."""
        if question.is_puzzle:
            return {}
        return hints_beside(question, self._scenes(question.clip), self.kinds, self.min_confidence)

    @cached_property
    def _scenes(self) -> Callable[[str], Scenes]:
        """The same, read once for questions about one clip, which follow each other."""
        return lru_cache(maxsize=1)(self.scenes)


def with_hints(
    questions: Sequence[Question], hints: HintsBeside | None, clip: Clip | None
) -> tuple[list[Question], list[Medium]]:
    """The questions about a clip with their hints, and the pictures of these. `clip`: None for puzzles."""
    if hints is None:
        return list(questions), []
    hinted: list[Question] = []
    pictures: list[Medium] = []
    for question in questions:
        found = hints(question)
        hinted.append(replace(question, hints=[_recorded(kind, hint, clip) for kind, hint in found.items()]))
        pictures += [each.picture for hint in found.values() for each in hint.pictures]
    return hinted, pictures


def _recorded(kind: str, hint: Hint, clip: Clip | None) -> dict[str, Json]:
    """The entry in `Question.hints`."""
    return {
        "kind": kind,
        "text": [cue.text for cue in hint.cues],
        "pictures": [_picture(each, clip) for each in hint.pictures],
        "licence": hint.licence,
    }


def _picture(captioned: Captioned, clip: Clip | None) -> dict[str, Json]:
    """An entry as those of `Question.media`, of the kind "hint", and what it shows."""
    entry = media.record(clip, captioned.picture)
    kept = {name: entry[name] for name in ("id", "path", "frames", "size_px")}
    return {"kind": "hint", "text": captioned.text, **kept}
