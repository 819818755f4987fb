"""The words of an episode's task, as its data gives them, where questions can use them."""

import numpy as np

from experts.signals import Task
from templates.columns import Texts
from templates.scene.episode import task_of
from templates.scene.scene import Scene

_MOST_WORDS = 20
NOT_THIS_TASK = "the episode has another task, or no words for it"
NOT_SUCCEEDED = "the task is not known to succeed"


def instruction_of(scene: Scene) -> str:
    """The instruction in one line; "" where there is none that can be quoted."""
    task = task_of(scene)
    return "" if task is None else _plain(task.instruction)


def steps_of(scene: Scene) -> tuple[str, ...]:
    """The steps in their order; none where they are fewer than three, repeat each other, or cannot be quoted."""
    task = task_of(scene)
    steps = () if task is None else tuple(map(_plain, task.step_texts))
    distinct = len({step.casefold() for step in steps}) == len(steps)
    return steps if len(steps) >= 3 and distinct and all(steps) and _in_order(task) else ()


def joined_words(words: tuple[str, ...]) -> str:
    """Several texts as one of a column."""
    return "\n".join(words)


def in_one_line(joined: str) -> str:
    """The same texts, for a question."""
    return "; ".join(joined.split("\n"))


def separated(column: Texts) -> list[tuple[str, ...]]:
    """The texts of each row."""
    return [tuple(text.split("\n")) if text else () for text in column.tolist()]


def same_words(column: Texts, text: str) -> np.ndarray:
    """Whether each row says just this, and it says anything."""
    return np.asarray((column == text) & (text != ""))


def _plain(text: str) -> str:
    words = text.split()
    quotable = text.isprintable() and text.isascii() and 0 < len(words) <= _MOST_WORDS and '"' not in text
    return " ".join(words).rstrip(".") if quotable else ""


def _in_order(task: Task | None) -> bool:
    return (
        task is not None
        and len(task.step_frames) == len(task.step_texts)
        and bool((np.diff(task.step_frames) > 0).all())
    )
