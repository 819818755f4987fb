"""Rewards for reinforcement learning, in the form of TRL's GRPO reward functions: verifiable, bounded, hard to game.

    GRPOTrainer(..., reward_funcs=reward)        # the dataset's rows carry `question`, a line of `questions.jsonl`

A completion counts only if it has the form of the protocol: thoughts (or none), then one <answer> block, then nothing;
inside it a bare answer and no more (`reward_form`). What stands there is judged by `scoring.own`. Rewards by level of
the tree follow SpatialTree's finding that reasoning helps planning and harms perception: at L1, and in counting
wherever it stands in the tree, thoughts only cost; at L3 and L4 they earn a little, and only where the answer is right;
at L2 they change nothing.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from spatial_engine.scoring import own
from spatial_engine.scoring.reward_form import Formed, formed
from templates.answers.score import Unscored
from templates.columns import Json
from templates.question import FIELDS, Question

Completion = str | Sequence[Mapping[str, Json]]
"""Text, or the messages of a conversation, of which the assistant's last one counts."""

MOST_PARTIAL = 0.3
"""Largest reward of a wrong but near answer. A right one earns at least 0.8."""
THINKING = 0.1
"""Reward of reasoning for a right plan (L3, L4)."""
LENGTHY = 0.2
"""Penalty on reasoning for a right perception (L1, and counting)."""
_ENOUGH_WORDS = 40
"""Distinct words of reasoning that earn all of `THINKING`."""
_MUCH_THOUGHT = 2_000
"""Characters of reasoning that cost all of `LENGTHY`."""
_TOO_MUCH_THOUGHT = 20_000
"""Reasoning with more characters earns nothing."""


def reward(
    completions: Sequence[Completion], *, question: Sequence[str | Mapping[str, Json]], **columns: object
) -> list[float]:
    """From 0 to 1, one for each completion: `accuracy_reward`, changed by thoughts as the level asks.

    `question[i]` is the question of `completions[i]`, as JSON or as its object; other columns are not used.
    Questions that cannot be scored give 0 to all, and completions longer than 100 000 characters earn 0. Raises
    `ValueError` for other numbers of questions and completions and for lines that are no questions; never for a
    completion.
    """
    return [_reward(text, asked) for text, asked in _pairs(completions, question)]


def accuracy_reward(
    completions: Sequence[Completion], *, question: Sequence[str | Mapping[str, Json]], **columns: object
) -> list[float]:
    """From 0 to 1, thoughts aside: 1 for a right answer, 0 for a wrong one, up to 0.3 for numbers, points, boxes,
    sets and plans that come near. A completion longer than 100 000 characters (`reward_form.LONGEST`) is 0, right or
    not: it has run away, and must not pay."""
    return [_accuracy(formed(text, asked), asked) for text, asked in _pairs(completions, question)]


def _reward(text: str, question: Question) -> float:
    form = formed(text, question)
    accuracy = _accuracy(form, question)
    if form is None or accuracy == 0:
        return 0.0
    level = question.ability[:2]
    if level == "L1" or counts(question):
        return accuracy * (1 - LENGTHY * min(1.0, len(form.thought) / _MUCH_THOUGHT))
    if level in ("L3", "L4"):
        return accuracy * (1 - THINKING) + (THINKING * _effort(form.thought) if accuracy == 1 else 0.0)
    return accuracy


def counts(question: Question) -> bool:
    """Whether a question asks how many there are: its template says so, {"counting": true} in `scorer_params`."""
    return question.scorer_params.get("counting") is True


def _effort(thought: str) -> float:
    """Number of distinct words, from 0 to 1."""
    if len(thought) > _TOO_MUCH_THOUGHT:
        return 0.0
    return min(1.0, len(set(thought.lower().split())) / _ENOUGH_WORDS)


def _accuracy(form: Formed | None, question: Question) -> float:
    if form is None:
        return 0.0
    found = own.score_read(question, form.value)
    if isinstance(found, Unscored):
        return 0.0
    return 1.0 if found.value == 1 else MOST_PARTIAL * found.nearness


def _pairs(
    completions: Sequence[Completion], questions: Sequence[str | Mapping[str, Json]]
) -> list[tuple[str, Question]]:
    if isinstance(questions, str | Mapping) or len(questions) != len(completions):
        raise ValueError(f"{len(completions)} completions need a list of as many questions")
    return [(_text(c), _question(q)) for c, q in zip(completions, questions, strict=True)]


def _text(completion: Completion) -> str:
    """The assistant's last message; "" if there is none."""
    if isinstance(completion, str):
        return completion
    turns = [turn for turn in completion if isinstance(turn, Mapping) and turn.get("role", "assistant") == "assistant"]
    content = turns[-1].get("content") if turns else ""
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _question(given: str | Mapping[str, Json]) -> Question:
    return _from_line(given) if isinstance(given, str) else _from_record(given)


@lru_cache(maxsize=4096)
def _from_line(line: str) -> Question:
    """A group of completions shares its question: read once."""
    return _from_record(json.loads(line))


def _from_record(record: Json) -> Question:
    if not isinstance(record, Mapping) or (missing := sorted({*FIELDS} - record.keys())):
        lacking = ", ".join(missing) if isinstance(record, Mapping) else "everything"
        raise ValueError(f"`question` holds no question of questions.jsonl: it lacks {lacking}")
    return Question(**{name: record[name] for name in FIELDS})
