"""Rewords the prompts of a dataset: by a language model, with two checks, or by its templates' own wordings.

A rewording is used only if rules find what the answer depends on unchanged (`held`), and if a second reading, which
knows the rewording alone, finds the original among questions that differ from it in one thing (`rewording`). Otherwise
the question keeps its prompt, and the reason is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.card import write_card
from spatial_engine.dataset.dataset import Dataset, check_target, dataset_folder, scenes_of
from spatial_engine.dataset.examples import examples
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.part import check_outside
from spatial_engine.language.chat.asking import Cache, opened_cache
from spatial_engine.language.chat.estimate import Estimate, estimate
from spatial_engine.language.filled import filled
from spatial_engine.language.lexicon import Language
from spatial_engine.language.preserved import gives_away
from spatial_engine.language.rewording import Wish
from spatial_engine.language.settling import Rewording, Settling
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.options import RephraseOptions, Server, Spending
from spatial_engine.output_folder import place_file
from spatial_engine.progress import Progress, Silent
from templates.columns import Json
from templates.question import Question

EXTRA = "rephrased"
"""Key of a question's line: {"from": the original prompt, "language", "model", "reader"}."""
UNASKED = "the budget was used up"
GIVES_AWAY = "the rewording names an option"
_NO_OTHER = "its template has no other wording of it"
_EXAMPLES = 20
"""Unused rewordings that the audit shows."""
_SILENT, _NOWHERE, _FREE, _DEFAULT = Silent(), Server(), Spending(), RephraseOptions()

Found = Callable[[Question], Rewording]


@dataclass(frozen=True, kw_only=True)
class Rephrased:
    """The result of `rephrase`."""

    dataset: Dataset
    chosen: int
    """Number of questions whose prompt was to be reworded."""
    kept: int
    """Number of those with a new prompt."""
    unused: Mapping[str, int]
    """Number of the others by reason, the most frequent first."""
    failed: int
    """Number of questions without a reply: the next run asks again."""
    requests: int = 0
    """Requests of this run; replies from the cache are not counted."""
    input_tokens: int = 0
    output_tokens: int = 0
    amount: float | None = None
    """What the requests of this run cost; None without prices."""


@dataclass(frozen=True, kw_only=True)
class RephrasePlan:
    """What `rephrase` would ask."""

    questions: int
    """Number of questions whose prompt is to be reworded."""
    rewordings: int
    """Number of distinct rewordings: questions with one prompt share them."""
    remaining: Estimate
    """Estimated cost of what the cache does not answer, second readings included."""


def rephrase(
    dataset: Dataset | str | Path,
    out: str | Path,
    options: RephraseOptions = _DEFAULT,
    server: Server = _NOWHERE,
    *,
    cache: str | Path | None = None,
    replay: bool = False,
    spending: Spending = _FREE,
    progress: Progress = _SILENT,
) -> Rephrased:
    """Writes a dataset whose prompts are reworded; everything else of a question stays, and its original prompt stands
    in its line under "rephrased".

    Without `options.model` prompts take another wording of their template. `cache`: a folder of replies, by default
    OUT.replies: a stopped run goes on from there, and no reply is paid for twice. With `replay` all replies come from
    it, and no server is needed. Raises `UsageError`; `SetupError` if the server accepts no request.
    """
    whole, out = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset), Path(out)
    check_outside(whole, out)
    check_target(out)
    questions = list(whole.questions)
    chosen = _chosen(questions, options)
    if options.model is None:
        return _write(whole, out, questions, {id: _own_wording(one, options) for id, one in chosen.items()}, options)
    if not replay:
        server.check_address()
    wishes = {id: wish_of(one, options) for id, one in chosen.items()}
    with opened_cache(cache or default_cache(out), replay) as replies:
        assert replies is not None  # a folder is named
        settling = Settling(options, server, replies, spending, replay=replay)
        settled = settling.settle(list(dict.fromkeys(wishes.values())), progress)
    unasked = Rewording(fault=UNASKED)
    found = {id: settled.get(wish, unasked) for id, wish in wishes.items()}
    done = _write(whole, out, questions, found, options)
    return replace(
        done,
        requests=settling.requests,
        input_tokens=settling.input_tokens,
        output_tokens=settling.output_tokens,
        amount=settling.amount,
    )


def plan(
    dataset: Dataset | str | Path,
    out: str | Path,
    options: RephraseOptions,
    *,
    cache: str | Path | None = None,
) -> RephrasePlan:
    """What `rephrase` would ask, with an estimate of its cost. Writes nothing."""
    whole = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    check_outside(whole, Path(out))
    check_target(out)
    chosen = _chosen(list(whole.questions), options)
    wishes = list(dict.fromkeys(wish_of(one, options) for one in chosen.values())) if options.model else []
    with _perhaps_empty(Path(cache or default_cache(out))) as replies:
        remaining = estimate(Settling(options, _NOWHERE, replies, _FREE).remaining(wishes))
    return RephrasePlan(questions=len(chosen), rewordings=len(wishes), remaining=remaining)


def default_cache(out: str | Path) -> Path:
    """The folder of replies of a run that names none: OUT.replies, beside OUT."""
    path = Path(out).resolve()
    return path.with_name(f"{path.name}.replies")


@contextmanager
def _perhaps_empty(folder: Path) -> Iterator[Cache]:
    """The cache of a folder; an empty one that is not kept where there is none."""
    with TemporaryDirectory() as nowhere, opened_cache(folder if folder.is_dir() else nowhere, False) as found:
        assert found is not None
        yield found


def _chosen(questions: Sequence[Question], options: RephraseOptions) -> dict[str, Question]:
    """Questions to reword, by id: all, or `limit` of them at random. A larger sample contains every smaller one."""
    drawn = sorted(questions, key=lambda one: _drawn(f"limit/{one.id}", options)) if options.limit else questions
    ids = {one.id for one in drawn[: options.limit]}
    return {one.id: one for one in questions if one.id in ids}


def _drawn(what: str, options: RephraseOptions) -> int:
    return int(sha256(f"{options.seed}/{what}".encode("utf-8", "replace")).hexdigest()[:16], 16)


def _original(question: Question) -> str:
    """The prompt before it was ever reworded."""
    return str(question.extra.get(EXTRA, {}).get("from", question.prompt))


def wish_of(question: Question, options: RephraseOptions) -> Wish:
    """The rewording that a question is to get."""
    prompt = _original(question)
    known = filled(question, prompt)
    languages: Sequence[Language] = options.language  # type: ignore[assignment]
    return Wish(
        instructions=question.instructions,
        prompt=prompt,
        values=tuple(known.values.values()) if known else (),
        language=languages[_drawn(f"language/{question.id}", options) % len(languages)],
        version=_drawn(f"wording/{question.id}", options) % options.wordings,
    )


def _own_wording(question: Question, options: RephraseOptions) -> Rewording:
    """Another wording of the question's template."""
    prompt = _original(question)
    known = filled(question, prompt)
    others = [text for text in known.prompts() if text != prompt] if known else []
    if not others:
        return Rewording(fault=_NO_OTHER)
    return Rewording(text=others[_drawn(f"wording/{question.id}", options) % len(others)])


def _write(
    whole: Dataset,
    out: Path,
    questions: Sequence[Question],
    found: Mapping[str, Rewording],
    options: RephraseOptions,
) -> Rephrased:
    judged = {one.id: _judged(one, found[one.id]) for one in questions if one.id in found}
    written = [_reworded(one, judged[one.id], options) if one.id in judged else one for one in questions]
    unused = Counter(one.fault for one in judged.values() if one.fault is not None)
    ranked = dict(sorted(unused.items(), key=lambda item: (-item[1], item[0])))
    kept = len(judged) - sum(unused.values())
    record = whole.audit
    table, splits = QuestionTable.of(written), record.get("splits") or {}
    scenes = scenes_of(record, table.clip.known_texts)
    record["leaks"] = leak_audit(table, scenes=scenes, splits=splits, seed=int(record.get("seed") or 0))
    record["examples"] = examples(table)
    record["rephrased"] = {
        "model": options.model,
        "reader": options.reader or options.model,
        "languages": dict(sorted(Counter(_language(one) for one in written).items())),
        "wordings": options.wordings,
        "seed": options.seed,
        "chosen": len(judged),
        "kept": kept,
        "unused": ranked,
        "examples": _examples(questions, judged),
    }
    with dataset_folder(out) as folder:
        (folder / "media").mkdir()
        for file in sorted({file for question in written for file in question.files}):
            place_file(whole.path / file, folder / file)
        write_questions(folder, written)
        write_json(folder / "audit.json", record)
        write_card(folder, record, out.name)
    failed = sum(one.failed for one in judged.values())
    return Rephrased(dataset=Dataset(out), chosen=len(judged), kept=kept, unused=ranked, failed=failed)


def _judged(question: Question, found: Rewording) -> Rewording:
    """The rewording of the question's prompt; not used where it names one of the question's own options."""
    texts = () if question.has_pictures_as_options else question.options
    if found.fault is None and gives_away(_original(question), found.text, texts):
        return replace(found, fault=GIVES_AWAY)
    return found


def _reworded(question: Question, found: Rewording, options: RephraseOptions) -> Question:
    if found.fault is not None:
        return question
    language = options.language[_drawn(f"language/{question.id}", options) % len(options.language)]
    record: dict[str, Json] = {"from": _original(question), "language": language, "model": options.model}
    record |= {"reader": options.reader or options.model} if options.model else {}
    return replace(question, prompt=found.text, extra={**question.extra, EXTRA: record})


def _language(question: Question) -> str:
    return str(question.extra.get(EXTRA, {}).get("language", "en"))


def _examples(questions: Iterable[Question], judged: Mapping[str, Rewording]) -> list[Json]:
    """Some rewordings that are not used, a few of each reason."""
    shown = Counter[str]()
    examples: list[Json] = []
    for question in questions:
        found = judged.get(question.id)
        if found is None or found.fault is None or not found.text or len(examples) >= _EXAMPLES:
            continue
        shown[found.fault] += 1
        if shown[found.fault] <= 3:
            examples.append({"from": _original(question), "to": found.text, "reason": found.fault})
    return examples
