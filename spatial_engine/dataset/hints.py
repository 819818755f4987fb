"""The hints of a data set's questions, from the signals of their clips."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

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
        return hints_beside(question, self.scenes(question.clip), self.kinds, self.min_confidence)


def with_hints(
    questions: Sequence[Question], hints: HintsBeside | None, opened: Mapping[str, Clip]
) -> tuple[list[Question], dict[str, list[Medium]]]:
    """The questions with their hints, and the pictures of these by clip."""
    pictures: dict[str, list[Medium]] = defaultdict(list)
    if hints is None:
        return list(questions), pictures
    hinted = []
    for question in questions:
        found = hints(question)
        clip = opened.get(question.clip)
        hinted.append(replace(question, hints=[_recorded(kind, hint, clip) for kind, hint in found.items()]))
        pictures[question.clip] += [each.picture for hint in found.values() for each in hint.pictures]
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
