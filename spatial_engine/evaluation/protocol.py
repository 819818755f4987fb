"""The prompt of a question: the unified protocol of "Has GPT-5 Achieved Spatial Intelligence?" (EASI), reworded.

Instruction, pictures by name, question, lettered options, form of the answer: reasoning first, then the answer in
<answer> tags. No file is read here: a picture is its entry of `Question.media`.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.hints import cues, kinds_of_pictures, known, with_pictures
from spatial_engine.evaluation.named_media import named_media
from templates.answers.registry import format_of
from templates.columns import Json
from templates.question import LETTERS, Question


@dataclass(frozen=True)
class Presentation:
    """A question with one rotation of its options."""

    question: Question
    """The question of the dataset."""
    rotation: int = 0
    """Position p shows option (p + rotation) mod k."""

    @property
    def key(self) -> tuple[str, int]:
        """Question id and rotation."""
        return self.question.id, self.rotation

    @property
    def shown(self) -> Question:
        """The question with rotated options and the corresponding right letter."""
        return rotated(self.question, self.rotation)


def presentations(questions: Iterable[Question], *, circular: bool) -> Iterator[Presentation]:
    """Every question once; with `circular`, a choice once for each rotation of its options."""
    for question in questions:
        count = rotations(question) if circular else 1
        yield from (Presentation(question, rotation) for rotation in range(count))


def sample(ids: Sequence[str], limit: int | None, seed: int) -> set[str]:
    """`limit` random ids. With the same seed, a larger sample contains every smaller one."""
    if limit is None or limit >= len(ids):
        return set(ids)
    order = sorted(ids)
    random.Random(seed).shuffle(order)
    return set(order[:limit])


def asked(
    questions: Iterable[Question], ids: Sequence[str], *, circular: bool, limit: int | None, seed: int
) -> Iterator[Presentation]:
    """The presentations of a run, in the order of the dataset. `ids`: those of all its questions."""
    chosen = sample(ids, limit, seed)
    return presentations((question for question in questions if question.id in chosen), circular=circular)


INSTRUCTION = (
    "You are asked about space: places, distances, directions, motion. Rest your answer on what the pictures show and "
    "do not assume what they do not. If you are not certain, give the answer that is most likely: every question has "
    "one, and a refusal counts as wrong."
)
_BLIND = "The pictures that this question speaks of are not shown. Answer all the same, as well as the text allows."
_FORM = "Think step by step first. Then give the final answer, and nothing else, between <answer> and </answer>: {}."
_ANSWER = "Form of the answer: {}."

Part = str | Mapping[str, Json]
"""A text, or an entry of `Question.media` (with "path" and "id") where the picture is shown."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One presentation of one question."""

    system: str = ""
    """The system message: the question's instructions where they are asked for apart, else ""."""
    parts: tuple[Part, ...]
    """In the order of the prompt; every picture follows the text that names it."""
    hints_given: tuple[str, ...] = ()
    """Kinds of hints in the text."""
    hints_withheld: Mapping[str, str] = field(default_factory=dict)
    """Requested kinds that are not in the text: "would state the answer" or "nothing known"."""
    hint_pictures_given: tuple[str, ...] = ()
    """Kinds of hints among the pictures."""


def prompt(
    question: Question,
    *,
    rotation: int = 0,
    hints: Sequence[str] = (),
    hint_pictures: Sequence[str] = (),
    blind: bool = False,
    system_prompt: bool = False,
    system_text: str = "",
    others: Sequence[Question] = (),
) -> Prompt:
    """Text and pictures in order.

    `rotation` is a presentation of circular evaluation: position p shows option (p + rotation) mod k. `blind` omits
    the pictures. `system_prompt` makes the question's instructions a system message. `system_text` is one, and replaces
    our instruction and call to think; "{form}" in it stands for the form of the answer. `hints` and `hint_pictures` are
    kinds of low-level cues (`hints.kinds`) in words and as pictures: those of the question, else in words from
    `others`, questions about the same clip. Raises `UsageError` for a rotation that the question does not have, and for
    an unknown kind of hint.
    """
    shown = rotated(question, rotation)
    given, withheld = cues(shown, hints, others)
    shown = shown if blind else with_pictures(shown, hint_pictures)
    pictures = [_BLIND] if blind else _pictures(shown)
    words = shown.prompt if system_prompt else shown.text
    parts = [*pictures, *filter(None, [known(shown, given)]), words, *_options(shown, blind)]
    own = system_text.replace("{form}", form(shown))
    return Prompt(
        system=own or (shown.instructions if system_prompt else ""),
        parts=(*parts, _ANSWER.format(form(shown))) if own else (INSTRUCTION, *parts, _FORM.format(form(shown))),
        hints_given=tuple(given),
        hints_withheld=withheld,
        hint_pictures_given=() if blind else kinds_of_pictures(question, hint_pictures),
    )


def rotated(question: Question, rotation: int) -> Question:
    """The question with rotated options: position p shows option (p + rotation) mod k. The right letter changes too.

    Raises `UsageError` for a rotation that the question does not have.
    """
    if rotation == 0:
        return question
    k = rotations(question)
    if not 0 < rotation < k:
        raise UsageError(f"question {question.id} has no rotation {rotation}", f"it has rotations 0 to {k - 1}")
    options = [*question.options[rotation:], *question.options[:rotation]]
    params = dict(question.scorer_params)
    if values := params.get("option_values"):
        params["option_values"] = [*values[rotation:], *values[:rotation]]

    def turned(letter: str) -> str:
        return LETTERS[(LETTERS.index(letter) - rotation) % k]

    evidence = dict(question.evidence)
    if traps := evidence.get("traps"):
        evidence["traps"] = {mistake: turned(letter) for mistake, letter in traps.items()}
    return replace(question, options=options, answer=turned(question.answer), scorer_params=params, evidence=evidence)


def rotations(question: Question) -> int:
    """Number of presentations in circular evaluation: the number of options of a choice, else 1; 1 as well where
    options cannot change their places ("none of the above")."""
    return 1 if question.scorer_params.get("fixed_options") else max(1, len(question.options))


def form(question: Question) -> str:
    """The form of the answer between the tags, in words."""
    return format_of(question.format).form(question)


def _pictures(question: Question) -> list[Part]:
    """The pictures of the question, each after its name."""
    parts: list[Part] = []
    for name, medium in named_media(question):
        parts += [f"{name.capitalize()}:", medium]
    return parts


def _options(question: Question, blind: bool) -> list[Part]:
    drawn = {medium["id"]: medium for medium in question.media if medium.get("option")}
    if not question.options:
        return []
    if not any(option in drawn for option in question.options):
        return ["Options:\n" + "\n".join(f"{LETTERS[i]}. {text}" for i, text in enumerate(question.options))]
    parts: list[Part] = ["Options:"]
    for i, option in enumerate(question.options):
        shown: Part = drawn.get(option, option)
        parts += [f"{LETTERS[i]}. (a picture that is not shown)"] if blind else [f"{LETTERS[i]}.", shown]
    return parts
