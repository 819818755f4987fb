"""Published benchmarks: a file of items and a file of responses, scored by one of `scoring.scorers`.

OUT/<name>/{scores.jsonl, result.json}: one line an item, and the totals.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spatial_engine.atomic_file import atomic_file, read_json, write_json
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.answers import check_file, read_answers
from spatial_engine.evaluation.runs import RESULT, SCORES, check_place
from spatial_engine.progress import Progress, Silent, counted
from spatial_engine.scoring.scorers import IDS, Item, ScoredItem, create_scorer, item_id, score_items

_TEXTS = ("text", "response", "prediction")
"""Not `answer`: many benchmarks call the right one so."""
_SILENT = Silent()


def score_published(
    items: str | Path,
    responses: str | Path,
    out: str | Path,
    *,
    scorer: str,
    name: str | None = None,
    skip_bad_lines: bool = False,
    progress: Progress = _SILENT,
) -> Path:
    """Scores responses to a benchmark's own items; returns the folder OUT/<name>.

    Args:
        items: JSON Lines, or a JSON list, of items with the benchmark's own fields and an id each.
        responses: JSON Lines with an id and a text each; items without one score 0 and are counted as missing.
        out: folder of results; results of the same name are replaced.
        scorer: a name of `SCORERS`.
        name: of the folder in OUT; by default the stem of `responses` and the scorer.
        skip_bad_lines: whether lines of `responses` that cannot be used are skipped and counted.
        progress: who is told.

    Raises:
        UsageError: an unknown scorer, items without an id or a field, or files that cannot be read.
    """
    rules = create_scorer(scorer)
    rows = read_items(Path(items))
    answers = read_answers(
        responses, {item_id(row, number): 1 for number, row in enumerate(rows, start=1)},
        skip_bad_lines=skip_bad_lines, ids=IDS, texts=_TEXTS,
    )  # fmt: skip
    progress.say(f"{responses}: {answers.taken}")
    scored, totals = score_items(rules, rows, {id: found.text for (id, _), found in answers.responses.items()})
    missing = sum("missing" in one.score.detail for one in scored)
    if missing:
        progress.say(f"{counted(missing, 'response')} missing: they score 0")
    name = name or f"{Path(responses).stem}-{scorer}"
    folder = _folder(Path(out), name)
    _write_scores(folder / SCORES, scored)
    write_json(
        folder / RESULT,
        {"scorer": scorer, "source": rules.source, "items": len(scored), "missing": missing, "score": totals.score,
         "categories": dict(totals.categories), "detail": dict(totals.detail)},
    )  # fmt: skip
    return folder


def read_items(path: Path) -> list[Item]:
    """The objects of a JSON Lines file, or of a JSON list. Raises `UsageError`."""
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder, and --as scores a file of items",
            "export a dataset of ours first, or leave --as out to score it by its own rules",
        )
    check_file(path)
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        found = json.loads(text) if text.lstrip().startswith("[") else _lines(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} holds no JSON: {error}", "give one JSON object a line, or a JSON list") from error
    if not found or not all(isinstance(item, dict) for item in found):
        raise UsageError(f"{path} holds no items", "give one JSON object a line, or a JSON list of objects")
    _check_ids(path, found)
    return list(found)


def show_published(folder: Path) -> None:
    """Prints the totals: every category, and the score last."""
    result = read_json(folder / RESULT)
    categories = result["categories"]
    width = max(map(len, [*categories, "score"]))
    for name, value in categories.items():
        print(f"  {name:{width}}  {_shown(value)}")
    missing = f", {result['missing']} missing" if result["missing"] else ""
    told = f"{result['scorer']}, {counted(result['items'], 'item')}{missing}"
    print(f"  {'score':{width}}  {_shown(result['score'])}  {told}")
    print(f"  written: {folder}")


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _check_ids(path: Path, items: Sequence[Item]) -> None:
    ids = Counter(item_id(item, number) for number, item in enumerate(items, start=1))
    if repeated := [id for id, count in ids.items() if count > 1]:
        raise UsageError(f"{path}: several items have the id {repeated[0]}", "give each item an id of its own")


def _folder(out: Path, name: str) -> Path:
    check_place(out, name)
    folder = out / name
    if folder.exists() and "scorer" not in (read_json(folder / RESULT) if (folder / RESULT).is_file() else {}):
        raise UsageError(f"{folder} holds something else than published scores", "choose another --name or -o")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_scores(path: Path, scored: Sequence[ScoredItem]) -> None:
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for number, one in enumerate(scored, start=1):
            record = {"id": item_id(one.item, number), "score": one.score.value, **one.score.detail}
            file.write(f"{json.dumps(record, ensure_ascii=False)}\n")


def _shown(value: float | None) -> str:
    return "   -  " if value is None else f"{value:6.4f}"
