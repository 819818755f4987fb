"""A question as training sees it: one turn that asks, with a token where each picture stands, and one that answers."""

import re
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.baselines import oracle_text
from templates.question import Question

TOKEN = "<image>"
IMAGES = "images"
_TOKENS = re.compile(r"<(image|video|audio)>")


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One question and its answer."""

    asked: str
    """The evaluation's prompt without its call to think first; as many tokens as `images`, in their order."""
    answered: str
    """The right answer, in the tags that evaluation asks for."""
    images: tuple[str, ...]
    """Paths below the export."""


def conversation(question: Question) -> Conversation:
    """What a model is asked in `evaluation.protocol`, and what it should say. There is no reasoning to learn from, so
    none is asked for."""
    _, *parts, _ = protocol.prompt(question).parts  # instruction, pictures and question, form of the answer
    parts.append(answer_form(question))
    texts = (TOKEN if not isinstance(part, str) else _without_tokens(part) for part in parts)
    images = tuple(f"{IMAGES}/{Path(part['path']).name}" for part in parts if not isinstance(part, str))
    return Conversation(asked="\n".join(texts), answered=_without_tokens(oracle_text(question)), images=images)


def answer_form(question: Question) -> str:
    """How to answer, without reasoning first."""
    return f"Give the answer, and nothing else, between <answer> and </answer>: {protocol.form(question)}."


def place_images(dataset: Dataset, question: Question, folder: Path) -> None:
    """The pictures of a question into `folder`/images, those that are not there yet."""
    (folder / IMAGES).mkdir(exist_ok=True)
    for medium in question.media:
        target = folder / IMAGES / Path(medium["path"]).name
        if not target.exists():
            copyfile(dataset.path / medium["path"], target)


def _without_tokens(text: str) -> str:
    """Trainers count tokens wherever they stand: words of the question must not look like one."""
    return _TOKENS.sub(r"(\1)", text)
