"""Every question of a data set held against sequences with ground truth."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from spatial_engine.question_line import plain
from spatial_engine.trust.numeric_error import numeric_error
from spatial_engine.trust.true_clip import TrueClip
from spatial_engine.trust.verdict import Verdict
from templates.answer import Answer
from templates.fact import Fact
from templates.question import Question
from templates.registry import create_templates
from templates.scene import Scene
from templates.template import Template
from templates.truth import Comparison, compare, recorded_answer

SLACK_PX = 3.0
"""Truth that changes its mind within so many pixels is no evidence."""


def audit_labels(questions: Iterable[Question], truths: Mapping[str, TrueClip]) -> Iterator[Verdict]:
    """A verdict for every question, clip by clip. `truths` by clip id; a clip without truth is undecidable."""
    templates = create_templates()
    by_clip: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_clip[question.clip].append(question)
    for clip, own in sorted(by_clip.items()):
        if (known := truths.get(clip)) is None:
            yield from (_undecidable(question, "no ground truth of this clip") for question in own)
            continue
        unsound = [question for question in own if set(frames_of(question)) & known.unsound]
        yield from (_undecidable(question, "ground truth is unsound here") for question in unsound)
        sound = [question for question in own if not set(frames_of(question)) & known.unsound]
        if sound:
            scene = known.scene(sorted({frame for question in sound for frame in frames_of(question)}))
            yield from (_judged(question, templates[question.template], scene) for question in sound)


def frames_of(question: Question) -> list[int]:
    """Frames that a question shows."""
    return [frame for medium in question.media for frame in medium.get("frames", ())]


def _judged(question: Question, template: Template, scene: Scene) -> Verdict:
    fact = Fact(template=question.template, params=question.fact)
    answer = recorded_answer(question, template)
    found = compare(template, question.format, fact, answer, scene, slack_px=SLACK_PX)
    return _verdict(question, found, answer)


def _undecidable(question: Question, reason: str) -> Verdict:
    return _verdict(question, Comparison(right=None, reason=reason), None)


def _verdict(question: Question, found: Comparison, answer: Answer | None) -> Verdict:
    error, sigma = ({}, {}) if answer is None else numeric_error(answer, found.true)
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
        true=None if found.true is None else plain(vars(found.true)),
    )
