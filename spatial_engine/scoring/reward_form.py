"""The form in which an answer earns a reward: reasoning, then one answer block that holds a bare answer, then the end.

It is stricter than the readers of `scoring.reading`, on purpose. Those find out what a model meant; a policy learns to
exploit what they forgive (several answers, ranges, all options, answers in the reasoning, blocks without end).
"""

from dataclasses import dataclass

from spatial_engine.scoring import own
from templates.columns import Json
from templates.question import Question

LONGEST = 100_000
"""Characters of a completion; a longer one earns 0. No answer needs so many: the policy is caught in a loop, which must
not be rewarded even where an answer ends it."""
_LONGEST_ANSWER = 2_000
_OPEN, _CLOSE = "<answer>", "</answer>"
_THINK, _THOUGHT = "<think>", "</think>"


@dataclass(frozen=True, kw_only=True)
class Formed:
    """A completion in the required form."""

    thought: str
    """The text before the answer block, without tags."""
    value: Json
    """The answer, in the form of `Question.answer`."""


def formed(text: str, question: Question) -> Formed | None:
    """Reasoning and answer; None for any other form."""
    if len(text) > LONGEST or text.count(_OPEN) != 1 or text.count(_CLOSE) != 1:
        return None
    before, _, rest = text.partition(_OPEN)
    answer, closed, after = rest.partition(_CLOSE)
    thought = _thought(before)
    if thought is None or not closed or after.strip() or len(answer) > _LONGEST_ANSWER:
        return None
    value = own.bare(question, answer.strip())
    return None if value is None else Formed(thought=thought, value=value)


def _thought(before: str) -> str | None:
    """The text before the answer block: at most one think block, closed there (a chat template may have opened it)."""
    opened, closed = before.count(_THINK), before.count(_THOUGHT)
    if opened > 1 or closed > 1 or opened > closed or (opened and before.index(_THINK) > before.index(_THOUGHT)):
        return None
    return before.replace(_THINK, " ").replace(_THOUGHT, " ").strip()
