"""Finished questions of every format, without a dataset on disk; and what makes them complete."""

from spatial_engine.dataset.question_line import question_of
from templates.asked import Asked
from templates.question import Question
from tests.spatial_engine import drafts


def question(asked: Asked) -> Question:
    """The first row, with options in the order in which they are offered."""
    draft = asked.draft(0)
    return question_of(draft, range(len(draft.options)), drafts.clip())


def questions() -> dict[str, Question]:
    """One of each, by name."""
    made = {
        "choice": drafts.closer(3),
        "drawn": drafts.which_map(3),
        "numeric": drafts.ratio(3),
        "json": drafts.tilt(3),
        "yes_no": drafts.moves(3, True),
        "point": drafts.same_point(3),
        "plan": drafts.walk(3),
        "order": drafts.route(3),
    }
    return {name: question(asked) for name, asked in made.items()}


def said_once(question: Question, words: str) -> bool:
    """Whether words have the question's instructions, if any, and its prompt, each once."""
    return words.count(question.text) == words.count(question.prompt) == 1 and (
        not question.instructions or words.count(question.instructions) == 1
    )
