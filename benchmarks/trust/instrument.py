"""Tests the audit itself: it must find planted wrong answers, contradict a wrong truth, and make nothing twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.trust.asked import questions_of, scenes_with
from benchmarks.trust.clips import AnyClip, RoomClip
from benchmarks.trust.rooms import RenderedTruth
from benchmarks.trust.verdicts import Judge, count, made_in, read, setup_of
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.true_sequence import TrueClip
from templates.question import Question

_FAR = 25.0
"""Error of a planted number, in tolerances or σ, whichever is larger."""
_MIN_CONTRADICTED = 0.1
"""Least share of labels that a reversed camera path must contradict."""


@dataclass(frozen=True, kw_only=True)
class _Audited:
    """One clip of the run."""

    questions: list[Question]
    truths: Mapping[str, TrueClip]
    right: frozenset[str]
    """Ids of questions with the verdict "right"."""


def check(clips: Sequence[AnyClip], judge: Judge, text: str) -> int:
    """Prints the result of each test; 0 if all pass."""
    audited = {clip.name: _read(clip, judge) for clip in clips}
    checks = {
        "each clip has labels that truth decides": _decided(audited),
        "planted wrong answers are found": _planted(audited),
        "a reversed truth contradicts labels": _backwards(clips, audited),
        "existing verdicts are not made again": _resumed(clips, judge),
        "the table has every leaf that was asked": _tabled(audited, text),
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


def _read(clip: AnyClip, judge: Judge) -> _Audited:
    kept, setup = read(judge.out / clip.name), setup_of(clip, judge.seed)
    assert kept is not None
    signalled = clip.signals(made_in(judge.out / clip.name))
    return _Audited(
        questions=[
            one
            for each, signals in signalled
            for one in questions_of(each, scenes_with(each, signals, setup), setup, setup.templates)
        ],
        truths=clip.truths([each for each, _ in signalled]),
        right=frozenset(verdict.id for verdict in kept.verdicts if verdict.word == "right"),
    )


def _decided(audited: Mapping[str, _Audited]) -> tuple[bool, str]:
    counts = {name: len(one.right) for name, one in audited.items()}
    return min(counts.values()) > 0, ", ".join(f"{name} {n}" for name, n in counts.items())


def _planted(audited: Mapping[str, _Audited]) -> tuple[bool, str]:
    """Compares the wrong answers among all other questions: which photos' depth the truth reads depends on them all."""
    made, missed = 0, []
    for one in audited.values():
        wrong = {q.id: changed for q in one.questions if q.id in one.right and (changed := planted(q)) is not None}
        verdicts = compare_labels([wrong.get(q.id, q) for q in one.questions], one.truths)
        found = {verdict.id for verdict in verdicts if verdict.word == "wrong" and not verdict.reason}
        made += len(wrong)
        missed += [f"{q.template} {q.format}" for id, q in wrong.items() if id not in found]
    detail = f"{made - len(missed)} of {made}" + (f"; missed: {', '.join(sorted(set(missed)))}" if missed else "")
    return made > 0 and not missed, detail


def _backwards(clips: Sequence[AnyClip], audited: Mapping[str, _Audited]) -> tuple[bool, str]:
    """Compares the same questions with the same rooms and reversed camera paths."""
    totals = {"right": 0, "wrong": 0, "undecidable": 0}
    for clip in clips:
        if isinstance(clip, RoomClip):
            one = audited[clip.name]
            truths = dict(_reversed(one.truths))
            for word, n in count(list(compare_labels(one.questions, truths))).items():
                totals[word] += n
    decided = totals["right"] + totals["wrong"]
    return decided > 0 and totals["wrong"] >= _MIN_CONTRADICTED * decided, f"{totals['wrong']} of {decided} decided"


def _reversed(truths: Mapping[str, TrueClip]) -> Iterator[tuple[str, TrueClip]]:
    for id, truth in truths.items():
        assert isinstance(truth, RenderedTruth)
        path = np.ascontiguousarray(truth.of.world_from_cam[::-1])
        yield id, replace(truth, of=replace(truth.of, world_from_cam=path))


def _resumed(clips: Sequence[AnyClip], judge: Judge) -> tuple[bool, str]:
    lacking = [clip.name for clip in clips if read(judge.out / clip.name, judge.code, judge.seed) is None]
    other = [clip.name for clip in clips if read(judge.out / clip.name, "other code") is not None]
    return not lacking and not other, f"{len(lacking)} would be, {len(clips) - len(other)} with other code"


def _tabled(audited: Mapping[str, _Audited], text: str) -> tuple[bool, str]:
    leaves = {q.ability for one in audited.values() for q in one.questions}
    lacking = sorted(leaf for leaf in leaves if leaf not in text)
    return not lacking, f"{len(leaves)} leaves" + (f"; lacking: {', '.join(lacking)}" if lacking else "")
