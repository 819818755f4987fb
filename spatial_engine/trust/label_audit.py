"""Compares every question of a dataset with sequences that have ground truth."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache

import numpy as np

from spatial_engine.dataset.question_line import plain
from spatial_engine.trust.true_sequence import TrueClip
from spatial_engine.trust.verdict import Verdict
from templates.answers import Answer
from templates.answers.registry import format_of, recorded_answer
from templates.question import Question
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.template import Template
from templates.truth import LACKS, Claim, Comparison, compare_all

SLACK_PX = 3.0
"""The truth is undecidable where its verdict changes if pixels move by this much."""
NO_TRUTH = "no ground truth of this clip"
UNSOUND = "ground truth is unsound here"
_DENSE_AT_ONCE = 24
"""Frames whose depth is in memory at once."""
_NOT_AN_ANSWER = (ValueError, LookupError, TypeError, AttributeError, OverflowError)


def compare_labels(questions: Iterable[Question], truths: Mapping[str, TrueClip]) -> Iterator[Verdict]:
    """A verdict for every question, clip by clip. `truths` by clip id; without truth a question is undecidable."""
    templates = _templates()
    by_clip: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_clip[question.clip].append(question)
    for clip, own in sorted(by_clip.items()):
        if (known := truths.get(clip)) is None:
            yield from (_undecidable(question, NO_TRUTH) for question in own)
            continue
        strange = [question for question in own if question.template not in templates]
        yield from (_undecidable(question, "its template is not installed") for question in strange)
        unsound = {question.id for question in own if set(frames_of(question)) & known.unsound}
        for some in _portions([question for question in own if question.template in templates]):
            scene = _with_clock(known.scene(sorted(_dense(some))), some)
            for verdict in _judged_all(some, templates, scene):
                lacks = verdict.id in unsound and verdict.reason.startswith(LACKS)
                yield replace(verdict, reason=UNSOUND) if lacks else verdict


@cache
def _templates() -> dict[str, Template]:
    return create_templates()


def frames_of(question: Question) -> list[int]:
    """Frames that a question shows."""
    return [frame for medium in question.media for frame in medium.get("frames", ())]


def _dense(questions: Iterable[Question]) -> set[int]:
    """Frames that need depth: all of facts about pixels; of others that depend on the distance of what is shown, the
    photos and the first frame of each video."""
    return {frame for question in questions for frame in _dense_of(question)}


def _dense_of(question: Question) -> list[int]:
    template = _templates().get(question.template)
    if template is None or "depth" not in template.reads:
        return []
    if template.facts.has_pixels():
        return frames_of(question)
    return [medium["frames"][0] for medium in question.media if medium.get("frames")]


def _portions(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Questions in batches that need the depth of few frames; those of one fact are in one batch."""
    facts: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        facts[question.fact_id].append(question)
    portion: list[Question] = []
    dense: set[int] = set()
    for own in sorted(facts.values(), key=lambda own: (sorted(_dense(own)), own[0].fact_id)):
        if portion and len(dense | _dense(own)) > _DENSE_AT_ONCE:
            yield portion
            portion, dense = [], set()
        portion, dense = [*portion, *own], dense | _dense(own)
    if portion:
        yield portion


def _with_clock(scene: Scene, questions: Iterable[Question]) -> Scene:
    """Where the truth has no time stamps, the time stamps of the dataset are used."""
    if scene.clip.times_s is not None:
        return scene
    times_s = np.full(len(scene.clip.frames), np.nan)
    shown = [medium for question in questions for medium in question.media if medium.get("times_s")]
    for medium in shown:
        times_s[np.searchsorted(scene.clip.frames, medium["frames"])] = medium["times_s"]
    return replace(scene, clip=replace(scene.clip, times_s=times_s)) if shown else scene


def _judged_all(questions: Sequence[Question], templates: Mapping[str, Template], scene: Scene) -> Iterator[Verdict]:
    by_template: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_template[question.template].append(question)
    for name, own in sorted(by_template.items()):
        read: list[tuple[Question, Answer, Claim]] = []
        for question in own:
            try:
                templates[name].facts.from_json([question.fact])
                read.append((question, *_claim(question)))
            except _NOT_AN_ANSWER:
                yield _verdict(question, Comparison(right=False, reason="its answer cannot be read"), None)
        found = compare_all(templates[name], [claim for *_, claim in read], scene, slack_px=SLACK_PX)
        for (question, answer, _), comparison in zip(read, found, strict=True):
            yield _verdict(question, comparison, answer)


def _claim(question: Question) -> tuple[Answer, Claim]:
    """The recorded measurement, and the claim that both it and the written answer are right. The measurement alone
    would not reveal a wrong letter."""
    format, recorded = format_of(question.format), recorded_answer(question)
    claim = Claim(
        format=question.format,
        fact=dict(question.fact),
        predictions=(recorded, format.stated(question, recorded)),
        others=format.others(question, recorded),
    )
    return recorded, claim


def _undecidable(question: Question, reason: str) -> Verdict:
    return _verdict(question, Comparison(right=None, reason=reason), None)


def _verdict(question: Question, found: Comparison, answer: Answer | None) -> Verdict:
    comparable = type(answer) is type(found.target)
    error, sigma = answer.difference(found.target) if answer is not None and comparable else ({}, {})
    words = {True: "right", False: "wrong", None: "undecidable"}
    return Verdict(
        id=question.id,
        fact_id=question.fact_id,
        ability=question.ability,
        template=question.template,
        format=question.format,
        clip=question.clip,
        experts="+".join(sorted({str(record["expert"]) for record in question.provenance})),
        word=words[found.right],  # type: ignore[arg-type]
        reason=found.reason,
        margin=question.margin,
        error=error,
        sigma=sigma,
        answer=question.answer,
        target=None if found.target is None else plain(asdict(found.target)),
        label=question.value if isinstance(question.value, str) else "",
    )
