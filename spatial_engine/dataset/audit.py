"""The content of `audit.json`: counts, refusals, balance, blind baselines, licences, splits, truth."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from spatial_engine.atomic_file import one_writer, read_json, write_json
from spatial_engine.dataset.card import write_card
from spatial_engine.dataset.dataset import FORMAT_VERSION
from spatial_engine.dataset.question_line import plain
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.scoring.own import chance
from templates.ability import LEAVES
from templates.columns import Json
from templates.generate import SURPLUS
from templates.question import Question
from templates.unanswerable import UNDETERMINED, offers_undetermined

Reasons = Mapping[tuple[str, str], int]
"""Number of facts or questions by leaf and reason."""
_SPLITS = (("train", 0.7), ("validation", 0.8), ("test", 1.0))
"""Name and upper end of each split on a scale from 0 to 1."""
_WORST_KEPT = 50


def audit(
    questions: Iterable[Question],
    *,
    refused: Reasons,
    dropped: Reasons,
    scenes: Mapping[str, str],
    seed: int,
    settings: Mapping[str, Json],
    splits: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Json]:
    """The content of `audit.json`. `refused`: not asked, or surplus; `dropped`: decided, but dropped to balance the
    data set. `scenes`: scene by clip id; puzzles are scenes of their own. `splits`: clips by split, if they are
    assigned already.

    Reads the questions once, and keeps of each what is compared with others.
    """
    questions = [replace(question, fact={}, evidence={}, hints=()) for question in questions]
    puzzles = {question.clip for question in questions if question.is_puzzle}
    scenes = {puzzle: puzzle for puzzle in puzzles} | dict(scenes)
    splits = _splits(scenes, seed) if splits is None else {name: sorted(clips) for name, clips in splits.items()}
    return {
        "format_version": FORMAT_VERSION,
        "seed": seed,
        "settings": plain(settings),
        "questions": len(questions),
        "facts": len({question.fact_id for question in questions}),
        "clips": len(scenes.keys() - puzzles),
        "clips_with_questions": len({question.clip for question in questions} - puzzles),
        "puzzles": len(puzzles),
        "abilities": _abilities(questions),
        "formats": _counts(question.format for question in questions),
        "templates": _counts(question.template for question in questions),
        "unanswerable": _unanswerable(questions),
        "refused": _reasons({key: count for key, count in refused.items() if key[1] != SURPLUS}),
        "surplus": {leaf: count for (leaf, reason), count in sorted(refused.items()) if reason == SURPLUS},
        "dropped": _reasons(dropped),
        "letters": letters(questions),
        "answers": answers(questions),
        "baselines": baselines(questions),
        "splits": splits,
        "scenes": dict(sorted(scenes.items())),
        "leaks": leak_audit(questions, scenes=scenes, splits=splits, seed=seed),
        "licences": _licences(questions),
        "experts": _experts(questions),
        "truth": None,
        "truth_detail": None,
        "human": None,
    }


def set_truth(
    dataset_path: str | Path, counts: Mapping[str, int], worst: Sequence[Mapping[str, Json]] = (), source: str = ""
) -> None:
    """Writes the comparison with ground truth (numbers of "right", "wrong" and "undecidable" facts) to `audit.json` and
    the card.

    `worst`: facts by error, largest first (JSON objects with "fact_id"). `source`: the source of the truth ("the
    renderer's exact scene").
    """
    if set(counts) != {"right", "wrong", "undecidable"}:
        raise ValueError(f"counts has {sorted(counts)}; give right, wrong and undecidable")
    detail = {"source": source, "worst": plain(list(worst[:_WORST_KEPT]))}
    _put(Path(dataset_path), {"truth": dict(counts), "truth_detail": detail})


def set_human(dataset_path: str | Path, summary: Mapping[str, Json] | None) -> None:
    """Writes the verdicts of people (`spatial_engine.adjudication.summary`) to `audit.json` and the card; None: no
    verdicts."""
    _put(Path(dataset_path), {"human": plain(summary)})


def _put(dataset_path: Path, changes: Mapping[str, Json]) -> None:
    path = dataset_path / "audit.json"
    with one_writer(dataset_path):
        record = {**read_json(path), **changes}
        write_json(path, record)
        write_card(dataset_path, record, dataset_path.name)


def _abilities(questions: Sequence[Question]) -> dict[str, Json]:
    """Per leaf that has questions, in the order of the tree: questions, facts, formats, share."""
    by_leaf: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_leaf[question.ability].append(question)
    return {
        leaf: {
            "questions": len(by_leaf[leaf]),
            "facts": len({question.fact_id for question in by_leaf[leaf]}),
            "share": round(len(by_leaf[leaf]) / len(questions), 4),
            "formats": _counts(question.format for question in by_leaf[leaf]),
        }
        for leaf in sorted(by_leaf, key=lambda leaf: (LEAVES.index(leaf) if leaf in LEAVES else len(LEAVES), leaf))
    }


def _unanswerable(questions: Iterable[Question]) -> dict[str, dict[str, int]]:
    """By template: choices with the option "It cannot be determined ...", and how often that is right."""
    offered = [question for question in questions if offers_undetermined(question)]
    right = Counter(question.template for question in offered if question.value == UNDETERMINED)
    return {name: {"offered": n, "right": right[name]} for name, n in _counts(q.template for q in offered).items()}


def _reasons(counts: Reasons) -> dict[str, dict[str, int]]:
    """By leaf, the most frequent reason first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for (leaf, reason), count in counts.items():
        found[leaf][reason] += count
    return {leaf: _ranked(found[leaf]) for leaf in sorted(found)}


def letters(questions: Iterable[Question]) -> dict[str, dict[str, int]]:
    """Counts of the right letters of choices, by number of options. They differ by at most one."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for question in questions:
        if question.options:
            found[len(question.options)][question.answer] += 1
    return {str(k): dict(sorted(found[k].items())) for k in sorted(found)}


def answers(questions: Iterable[Question]) -> dict[str, dict[str, int]]:
    """Counts of right answers in words (yes, no, texts of options), by template and format."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        if question.right_words is not None:
            found[f"{question.template} ({question.format})"][question.right_words] += 1
    return {name: _ranked(found[name]) for name in sorted(found)}


def baselines(questions: Sequence[Question]) -> dict[str, Json]:
    """Accuracy of guessing without the pictures, over all choices and yes/no questions; null if there are none.

    random: a uniform guess. most_frequent_letter: the best fixed letter per number of options. always_yes: over yes/no
    questions. most_frequent_words: the best fixed words per template.
    """
    choices = [question for question in questions if question.options]
    yes_no = [question for question in questions if question.answer in ("yes", "no")]
    fair = [chance(question) for question in (*choices, *yes_no)]
    best_letter = sum(max(counts.values()) for counts in letters(questions).values())
    worded = answers(questions)
    best_words = sum(max(counts.values()) for counts in worded.values())
    return {
        "random": _share(sum(fair), len(fair)),
        "most_frequent_letter": _share(best_letter, len(choices)),
        "always_yes": _share(sum(question.answer == "yes" for question in yes_no), len(yes_no)),
        "most_frequent_words": _share(best_words, sum(sum(counts.values()) for counts in worded.values())),
    }


def _splits(scenes: Mapping[str, str], seed: int) -> dict[str, list[str]]:
    """Clips by split. Clips of one scene stay together, and so do their facts. Depends on ids only, not on names."""
    first_of_scene: dict[str, str] = {}
    for id, scene in sorted(scenes.items()):
        first_of_scene.setdefault(scene, id)
    found: dict[str, list[str]] = {name: [] for name, _ in _SPLITS}
    for id, scene in sorted(scenes.items()):
        place = int(sha256(f"{seed}/{first_of_scene[scene]}".encode()).hexdigest()[:8], 16) / 16**8
        found[next(name for name, end in _SPLITS if place < end)].append(id)
    return found


def _licences(questions: Iterable[Question]) -> dict[str, Json]:
    questions = list(questions)
    return {
        "footage": _counts(str(question.licence.get("footage", "unknown")) for question in questions),
        "signals": sorted({str(name) for question in questions for name in question.licence.get("signals", ())}),
        "commercial_ok": all(bool(question.licence.get("commercial_ok", False)) for question in questions),
    }


def _experts(questions: Iterable[Question]) -> list[Json]:
    """Every expert whose signals an answer uses, once per version, with its licences."""
    names = ("expert", "version", "code_licence", "weights_sha256", "weights_licence", "commercial_ok")
    shared = {id(question.provenance): question.provenance for question in questions}.values()
    found = {tuple(record.get(name) for name in names) for provenance in shared for record in provenance}
    return [dict(zip(names, expert, strict=True)) for expert in sorted(found, key=str)]


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
