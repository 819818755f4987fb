"""The content of `audit.json`: counts, refusals, balance, blind baselines, licences, splits, truth."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from experts.provenance import MAKER
from spatial_engine.atomic_file import one_writer, read_json, write_json
from spatial_engine.dataset.card import write_card
from spatial_engine.dataset.dataset import FORMAT_VERSION
from spatial_engine.dataset.examples import examples
from spatial_engine.dataset.question_line import plain
from spatial_engine.leaks.compact import grouped
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from templates.ability import LEAVES
from templates.columns import Json
from templates.generate import SURPLUS

Reasons = Mapping[tuple[str, str], int]
"""Number of facts or questions by leaf and reason."""
_SPLITS = (("train", 0.7), ("validation", 0.8), ("test", 1.0))
"""Name and upper end of each split on a scale from 0 to 1."""
_WORST_KEPT = 50


def audit(
    table: QuestionTable,
    *,
    refused: Reasons,
    dropped: Reasons,
    scenes: Mapping[str, str],
    seed: int,
    settings: Mapping[str, Json],
    splits: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Json]:
    """The content of `audit.json`. `refused`: not asked, or surplus; `dropped`: decided, but dropped to balance the
    dataset. `scenes`: scene by clip id; puzzles are scenes of their own. `splits`: clips by split, if they are
    assigned already."""
    puzzles = {*table.clip.counts(table.puzzle)}
    scenes = {puzzle: puzzle for puzzle in puzzles} | dict(scenes)
    splits = _splits(scenes, seed) if splits is None else {name: sorted(clips) for name, clips in splits.items()}
    return {
        "format_version": FORMAT_VERSION,
        "seed": seed,
        "settings": plain(settings),
        "questions": len(table),
        "facts": len(np.unique(table.fact)),
        "clips": len(scenes.keys() - puzzles),
        "clips_with_questions": len({*table.clip.texts} - puzzles),
        "puzzles": len(puzzles),
        "abilities": _abilities(table),
        "formats": table.format.counts(),
        "templates": table.template.counts(),
        "unanswerable": _unanswerable(table),
        "refused": _reasons({key: count for key, count in refused.items() if key[1] != SURPLUS}),
        "surplus": {leaf: count for (leaf, reason), count in sorted(refused.items()) if reason == SURPLUS},
        "dropped": _reasons(dropped),
        "letters": letters(table),
        "answers": answers(table),
        "baselines": baselines(table),
        "splits": splits,
        "scenes": dict(sorted(scenes.items())),
        "leaks": leak_audit(table, scenes=scenes, splits=splits, seed=seed),
        "examples": examples(table),
        "licences": _licences(table),
        "experts": _experts(table),
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


def _abilities(table: QuestionTable) -> dict[str, Json]:
    """Per leaf that has questions, in the order of the tree: questions, facts, formats, share."""
    rows = {table.ability.first(own): own for own in grouped(np.arange(len(table)), table.ability.index)}
    return {
        leaf: {
            "questions": len(rows[leaf]),
            "facts": len(np.unique(table.fact[rows[leaf]])),
            "share": round(len(rows[leaf]) / len(table), 4),
            "formats": table.format.counts(rows[leaf]),
        }
        for leaf in sorted(rows, key=lambda leaf: (LEAVES.index(leaf) if leaf in LEAVES else len(LEAVES), leaf))
    }


def _unanswerable(table: QuestionTable) -> dict[str, dict[str, int]]:
    """By template: choices with the option "It cannot be determined ...", and how often that is right."""
    right = table.template.counts(table.offers & table.unanswerable)
    return {
        name: {"offered": n, "right": right.get(name, 0)} for name, n in table.template.counts(table.offers).items()
    }


def _reasons(counts: Reasons) -> dict[str, dict[str, int]]:
    """By leaf, the most frequent reason first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for (leaf, reason), count in counts.items():
        found[leaf][reason] += count
    return {leaf: _ranked(found[leaf]) for leaf in sorted(found)}


def letters(table: QuestionTable) -> dict[str, dict[str, int]]:
    """Counts of the right letters of choices, by number of options. They differ by at most one."""
    rows = grouped(np.flatnonzero(table.options), table.options)
    return {str(table.options[own[0]]): table.letter.counts(own) for own in rows}


def answers(table: QuestionTable) -> dict[str, dict[str, int]]:
    """Counts of right answers in words (yes, no, texts of options), by template and format."""
    found = {name: _ranked(table.words.counts(rows)) for name, rows in table.by_template().items()}
    return {name: counts for name, counts in found.items() if counts}


def baselines(table: QuestionTable) -> dict[str, Json]:
    """Accuracy of guessing without the pictures, over all choices and yes/no questions; null if there are none.

    random: a uniform guess. most_frequent_letter: the best fixed letter per number of options. always_yes: over yes/no
    questions. most_frequent_words: the best fixed words per template.
    """
    choices, yes_no = table.options > 0, table.yes_no
    fair = np.concatenate([table.chance[choices], table.chance[yes_no]])
    best_letter = sum(max(counts.values()) for counts in letters(table).values())
    worded = answers(table)
    best_words = sum(max(counts.values()) for counts in worded.values())
    return {
        "random": _share(float(fair.sum()), len(fair)),
        "most_frequent_letter": _share(best_letter, int(choices.sum())),
        "always_yes": _share(table.words.counts(yes_no).get("yes", 0), int(yes_no.sum())),
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


def _licences(table: QuestionTable) -> dict[str, Json]:
    footage: Counter[str] = Counter()
    records: Counter[tuple[str, tuple[str, ...], bool]] = Counter()
    found = {text: json.loads(text) for text in table.licence.known_texts}
    for text, count in table.licence.counts().items():
        signals = tuple(sorted(map(str, found[text].get("signals", ()))))
        name = str(found[text].get("footage", "unknown"))
        footage[name] += count
        records[name, signals, bool(found[text].get("commercial_ok", False))] += count
    return {
        "footage": dict(sorted(footage.items())),
        "signals": sorted({str(name) for licence in found.values() for name in licence.get("signals", ())}),
        "commercial_ok": all(bool(licence.get("commercial_ok", False)) for licence in found.values()),
        "records": [
            {"footage": name, "signals": list(signals), "commercial_ok": usable, "questions": count}
            for (name, signals, usable), count in sorted(records.items())
        ],
    }


def _experts(table: QuestionTable) -> list[Json]:
    """Every expert whose signals an answer uses, once per version, with its licences."""
    found = {tuple(expert) for experts in table.experts.known_texts for expert in json.loads(experts)}
    return [dict(zip(MAKER, expert, strict=True)) for expert in sorted(found, key=str)]


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
