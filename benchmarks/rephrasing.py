"""How many planted changes the rules of `rephrase` catch, and how many faithful rewordings they lose.

    python -m benchmarks.rephrasing ask DATASET 200 > questions.jsonl   # the requests, for whoever writes rewordings
    python -m benchmarks.rephrasing check DATASET rewordings.jsonl

A line of the rewordings: {"id": of the question, "text": the reworded prompt, "planted": the kind of the change, or ""
for a faithful one}. The second reading is not asked: what is caught here, rules catch alone.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.rephrase import wish_of
from spatial_engine.language.held import reworded
from spatial_engine.language.preserved import gives_away
from spatial_engine.language.rewording import rewording_request
from spatial_engine.options import RephraseOptions
from templates.question import Question

_OPTIONS = RephraseOptions(model="-")


def spread(questions: Sequence[Question], count: int) -> Iterator[Question]:
    """That many questions with different prompts, as even over the templates and formats as can be."""
    kinds: dict[tuple[str, str], dict[str, Question]] = defaultdict(dict)
    for question in questions:
        kinds[question.template, question.format].setdefault(question.prompt, question)
    queues = [iter(found.values()) for found in kinds.values()]
    total = sum(map(len, kinds.values()))
    found = (next(queue, None) for queue in cycle(queues))
    yield from islice((one for one in islice(found, total * len(queues)) if one is not None), count)


def fault(question: Question, text: str) -> str | None:
    """Why the rules reject a rewording of a question; None if they do not."""
    _, reason = reworded(wish_of(question, _OPTIONS), json.dumps({"prompt": text}))
    options = () if question.has_pictures_as_options else question.options
    return reason or ("it names an option" if gives_away(question.prompt, text, options) else None)


def ask(dataset: Dataset, count: int) -> None:
    """Prints a line for each question, with the request as the model gets it."""
    for question in spread(list(dataset.questions), count):
        request = rewording_request(wish_of(question, _OPTIONS), _OPTIONS)
        line = {"id": question.id, "prompt": question.prompt, "options": list(question.options)}
        print(json.dumps(line | {"system": request.system, "request": request.parts[0]}, ensure_ascii=False))


def check(dataset: Dataset, rewordings: Path) -> tuple[Counter[str], Counter[str]]:
    """(all, rejected) by kind; prints both, the planted ones that pass, and the faithful ones that do not."""
    questions = {question.id: question for question in dataset.questions}
    every, rejected = Counter[str](), Counter[str]()
    for line in rewordings.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        kind, question = record["planted"] or "faithful", questions[record["id"]]
        reason = fault(question, record["text"])
        every[kind] += 1
        rejected[kind] += reason is not None
        if (reason is None) != (kind == "faithful"):
            print(f"{kind}: {reason or 'passes'}\n  {question.prompt}\n  {record['text']}")
    for kind, count in sorted(every.items()):
        print(f"{kind}: {rejected[kind]} of {count} rejected")
    return every, rejected


def main(arguments: Sequence[str]) -> int:
    """The exit code."""
    match arguments:
        case ["ask", dataset, count]:
            ask(Dataset.open(dataset), int(count))
        case ["check", dataset, rewordings]:
            check(Dataset.open(dataset), Path(rewordings))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
