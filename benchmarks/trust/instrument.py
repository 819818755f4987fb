"""Tests the audit itself: it must find planted wrong answers, contradict a wrong truth, and make nothing twice."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.trust.clips import AnyClip, RoomClip
from benchmarks.trust.rooms import RenderedTruth
from benchmarks.trust.verdicts import AskedClip, Judge, count, read
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.true_sequence import TrueClip
from templates.question import Question

_FAR = 25.0
"""Error of a planted number, in tolerances or σ, whichever is larger."""
_MIN_CONTRADICTED = 0.1
"""Least share of labels that a reversed camera path must contradict."""


@dataclass(frozen=True, kw_only=True)
class Tested:
    """What the audit says about one clip."""

    verdicts: Mapping[str, int]
    """Number of questions by verdict."""
    planted: int
    """Wrong answers."""
    missed: Sequence[str]
    """Template and format of those that were not found."""
    reversed: Mapping[str, int]
    """`verdicts` where the camera of a rendered room goes its path backwards; empty of real footage."""
    leaves: frozenset[str]
    """Abilities that are asked about."""

    def __str__(self) -> str:
        return str(self.verdicts)


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """The task of a worker: makes a clip's verdicts if they are missing, and tests the audit on the same questions."""

    judge: Judge

    def __call__(self, clip: AnyClip) -> Tested:
        """Asks once."""
        asked = self.judge.asked(clip)
        verdicts = (self.judge.kept(clip) or self.judge.judged(asked)).verdicts
        made, missed = _planted(asked, {verdict.id for verdict in verdicts if verdict.word == "right"})
        return Tested(
            verdicts=count(verdicts),
            planted=made,
            missed=missed,
            reversed=_backwards(asked) if isinstance(clip, RoomClip) else {},
            leaves=frozenset(question.ability for question in asked.questions.values()),
        )


def check(tested: Mapping[AnyClip, Tested], judge: Judge, text: str) -> int:
    """Prints the result of each test; 0 if all pass. `text`: the table."""
    checks = {
        "each clip has labels that truth decides": _decided(tested),
        "planted wrong answers are found": _found(tested),
        "a reversed truth contradicts labels": _contradicted(tested),
        "existing verdicts are not made again": _resumed(tested, judge),
        "the table has every leaf that was asked": _tabled(tested, text),
    }
    for name, (passed, detail) in checks.items():
        print(f"{'ok  ' if passed else 'FAIL'} {name}: {detail}")
    return 0 if all(passed for passed, _ in checks.values()) else 1


def planted(question: Question) -> Question | None:
    """The question with a wrong answer; None for formats in which none is easily made."""
    match question.format, question.answer:
        case "yes_no", "yes" | "no":
            return replace(question, answer="no" if question.answer == "yes" else "yes")
        case "choice", str(letter):
            return replace(question, answer=chr(ord("A") + (ord(letter) - ord("A") + 1) % len(question.options)))
        case "order", list(photos) if len(photos) > 1:
            return replace(question, answer=photos[::-1])
        case _, int() | float():
            if isinstance(question.sigma, int | float) and isinstance(question.tolerance, int | float):
                far = _FAR * max(question.sigma, question.tolerance)
                period = (question.scorer_params or {}).get("period")
                return replace(question, answer=question.answer + (far if period is None else period / 2))
    return None


def _planted(asked: AskedClip, right: set[str]) -> tuple[int, list[str]]:
    """Number of wrong answers in place of right ones, and those that are not found. They are compared among all other
    questions: which photos' depth the truth reads depends on them all."""
    wrong = {id: changed for id, q in asked.questions.items() if id in right and (changed := planted(q)) is not None}
    verdicts = compare_labels((asked.questions | wrong).values(), asked.truths)
    found = {verdict.id for verdict in verdicts if verdict.word == "wrong" and not verdict.reason}
    return len(wrong), [f"{q.template} {q.format}" for id, q in wrong.items() if id not in found]


def _backwards(asked: AskedClip) -> dict[str, int]:
    """Verdicts on the same questions in the same room with a reversed camera path."""
    return count(list(compare_labels(asked.questions.values(), dict(_reversed(asked.truths)))))


def _reversed(truths: Mapping[str, TrueClip]) -> Iterator[tuple[str, TrueClip]]:
    for id, truth in truths.items():
        assert isinstance(truth, RenderedTruth)
        path = np.ascontiguousarray(truth.of.world_from_cam[::-1])
        yield id, replace(truth, of=replace(truth.of, world_from_cam=path))


def _decided(tested: Mapping[AnyClip, Tested]) -> tuple[bool, str]:
    counts = {clip.name: one.verdicts["right"] for clip, one in tested.items()}
    return min(counts.values()) > 0, ", ".join(f"{name} {n}" for name, n in counts.items())


def _found(tested: Mapping[AnyClip, Tested]) -> tuple[bool, str]:
    made, missed = sum(one.planted for one in tested.values()), [each for one in tested.values() for each in one.missed]
    detail = f"{made - len(missed)} of {made}" + (f"; missed: {', '.join(sorted(set(missed)))}" if missed else "")
    return made > 0 and not missed, detail


def _contradicted(tested: Mapping[AnyClip, Tested]) -> tuple[bool, str]:
    right, wrong = (sum(one.reversed.get(word, 0) for one in tested.values()) for word in ("right", "wrong"))
    return right + wrong > 0 and wrong >= _MIN_CONTRADICTED * (right + wrong), f"{wrong} of {right + wrong} decided"


def _resumed(clips: Collection[AnyClip], judge: Judge) -> tuple[bool, str]:
    lacking = [clip.name for clip in clips if judge.kept(clip) is None]
    other = [clip.name for clip in clips if read(judge.out / clip.name, "other code") is not None]
    return not lacking and not other, f"{len(lacking)} would be, {len(clips) - len(other)} with other code"


def _tabled(tested: Mapping[AnyClip, Tested], text: str) -> tuple[bool, str]:
    leaves = {leaf for one in tested.values() for leaf in one.leaves}
    lacking = sorted(leaf for leaf in leaves if leaf not in text)
    return not lacking, f"{len(leaves)} leaves" + (f"; lacking: {', '.join(lacking)}" if lacking else "")
