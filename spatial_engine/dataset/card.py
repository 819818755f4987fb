"""The data-set card: README.md with the front matter that Hugging Face reads. Says nothing that audit.json does not."""

import json
from collections.abc import Mapping, Sequence

from templates.measured import Json
from templates.unanswerable import UNDETERMINED

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(audit: Mapping[str, Json], name: str) -> str:
    """Markdown of the card. `name` is the user's, and is shown as a literal."""
    sections = (
        _front_matter(audit, name),
        f"# {_literal(name)}\n\n{_summary(audit)}",
        f"## What is asked\n\n{_abilities(audit)}",
        f"## What was not asked, and why\n\n{_reasons(audit)}",
        f"## How far it can be trusted\n\n{_trust(audit)}",
        f"## How to read and score it\n\n{_SCORING}",
        f"## Licences\n\n{_licences(audit)}",
        f"## Limits\n\n{_LIMITS}",
    )
    return "\n\n".join(sections) + "\n"


_HUB_LICENCES = ("Apache-2.0", "MIT", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC0-1.0")
_REASONS = 10
"""Rows of reasons that are not folded."""
_SCORING = """\
One JSON object a line in `questions.jsonl`. Show the pictures of `media` in their order (those with `"option": true`
are the options of a choice, in the order of `options`), then `prompt`, then the options lettered A, B, C ...

- `choice`: right if the letter is `answer`. `yes_no`: right if the word is `answer`.
- `numeric`: right within `tolerance` of `answer`. `json`: every number within its tolerance, angles
  the short way round.
- `point`: right within `tolerance` pixels of `answer`, stated for a picture of `frame_size_px`.
- `order`: right if the list is `answer`. `plan`: `actions` with `step_nums`, replayed from the first photo's camera
  (`translation_step_m` or `point_fraction`, `rotation_step_deg` in `scorer_params`), ends within `tolerance` steps.

`sigma` is one standard deviation of a numeric answer; `margin` says how many σ a label is from the nearest other one;
both leave out gross errors, which `evidence.p_right` includes. `tolerance` is null for labels.

Several formats of one fact share `fact_id`: keep them on one side of any split (`splits` in `audit.json` does)."""

_LIMITS = """\
- σ is one standard deviation of the measurement behind an answer, systematic part included. A question is asked only
  if its answer is right with the probability `min_confidence` of the settings under that σ: about one in a hundred
  may be wrong at the threshold, far fewer away from it.
- What is easy to measure is asked more often than what is hard: counts describe the footage and the
  experts, not the world.
- Labels that could not be decided were left out, so a model's score here is on the decidable part of the footage."""


def _front_matter(audit: Mapping[str, Json], name: str) -> str:
    size = next((label for limit, label in _SIZES if audit["questions"] < limit), "n>1M")
    lines = (
        "---",
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        f"license: {_one_licence(audit)}",
        "language: [en]",
        "task_categories: [visual-question-answering]",
        "tags: [spatial-reasoning, 3d]",
        f'size_categories: ["{size}"]',
        "configs:",
        "  - config_name: default",
        "    data_files: questions.jsonl",
        "---",
    )
    return "\n".join(lines)


def _one_licence(audit: Mapping[str, Json]) -> str:
    """The Hub's name of the footage's licence if there is one for all, else "other"."""
    names = list(audit["licences"].get("footage", {}))
    return names[0].lower() if len(names) == 1 and names[0] in _HUB_LICENCES else "other"


def _summary(audit: Mapping[str, Json]) -> str:
    if not audit["questions"]:
        return f"No questions: nothing could be asked of {audit['clips']} clips. The reasons stand below."
    return (
        f"{audit['questions']} spatial questions about {audit['facts']} facts, measured in "
        f"{audit['clips_with_questions']} of {audit['clips']} clips. Every answer carries its error bar (`sigma`, "
        "`tolerance` or `margin`), its evidence, its provenance and its licence. Made by Spatial Engine, seed "
        f"{audit['seed']}."
    )


def _abilities(audit: Mapping[str, Json]) -> str:
    rows = [
        (leaf, str(found["questions"]), str(found["facts"]), ", ".join(f"{k} {v}" for k, v in found["formats"].items()))
        for leaf, found in audit["abilities"].items()
    ]
    table = _table(("Ability", "Questions", "Facts", "Formats"), rows) if rows else "Nothing."
    return "\n\n".join([table, *_unanswerable(audit)])


def _unanswerable(audit: Mapping[str, Json]) -> list[str]:
    """A line for each template that offers to abstain."""
    return [
        f"{found['offered']} choices of `{name}` offer to say that it cannot be determined. That is right for "
        f'{found["right"]} of them: their `value` is "{UNDETERMINED}".'
        for name, found in audit.get("unanswerable", {}).items()
    ]


def _reasons(audit: Mapping[str, Json]) -> str:
    """The most frequent reasons; the others are folded."""
    found = [
        (count, leaf or "all", _literal(reason))
        for kind in ("refused", "dropped")
        for leaf, reasons in audit[kind].items()
        for reason, count in reasons.items()
    ]
    if not found:
        return "Everything that was proposed was asked."
    head = ("Ability", "Reason", "Count")
    rows = [(leaf, reason, str(count)) for count, leaf, reason in sorted(found, key=lambda row: (-row[0], row[1:]))]
    table, others = _table(head, rows[:_REASONS]), rows[_REASONS:]
    if not others:
        return table
    words = "1 more reason" if len(others) == 1 else f"{len(others)} more reasons"
    return f"{table}\n\n<details><summary>{words}</summary>\n\n{_table(head, others)}\n\n</details>"


def _trust(audit: Mapping[str, Json]) -> str:
    truth = audit["truth"]
    held = (
        f"Held against ground truth: {truth['right']} facts right, {truth['wrong']} wrong, "
        f"{truth['undecidable']} that the truth itself does not decide."
        if truth
        else "No ground truth was at hand for this footage (`truth` in `audit.json` is null)."
    )
    held = f"{held}\n\n{_human(audit.get('human'))}"
    blind = [
        (label.replace("_", " "), f"{100 * share:.1f} %")
        for label, share in audit["baselines"].items()
        if share is not None
    ]
    if not blind:
        return held
    return f"{held}\n\nWhat an answer without looking gets right:\n\n{_table(('Guess', 'Right'), blind)}"


def _human(human: Mapping[str, Json] | None) -> str:
    """What people said of the recorded answers, per leaf; how far any two of them agree."""
    if not human:
        return "Nobody has judged it by eye (`human` in `audit.json` is null)."
    words = ("right", "wrong", "undecided", "bad", "disputed")
    rows = [(leaf, *(str(counts[word]) for word in words)) for leaf, counts in human["abilities"].items()]
    who = "1 person" if human["annotators"] == 1 else f"{human['annotators']} people"
    lines = [
        f"Judged by eye by {who}: {human['questions']} questions, of whose recorded answers {human['right']} are held "
        f"right, {human['wrong']} wrong; {human['undecided']} the pictures do not decide, {human['bad']} are badly "
        f"asked, on {human['disputed']} there is no majority. Valid: {100 * human['valid']:.1f} %, with 95 % "
        f"confidence at least {100 * human['valid_at_least']:.1f} %.",
        _table(("Ability", "Right", "Wrong", "Undecided", "Badly asked", "No majority"), rows),
        *(_agreement(pair) for pair in human["pairs"]),
    ]
    return "\n\n".join(lines)


def _agreement(pair: Mapping[str, Json]) -> str:
    kappa = (
        "Cohen's κ is not defined: all have one word"
        if pair["kappa"] is None
        else f"Cohen's κ {pair['kappa']:.2f}, 95 % interval {pair['low']:.2f} to {pair['high']:.2f}"
    )
    return f"Two people agree on {100 * pair['agreement']:.1f} % of {pair['questions']} questions ({kappa})."


def _licences(audit: Mapping[str, Json]) -> str:
    footage = ", ".join(f"{_literal(name)} ({count} questions)" for name, count in audit["licences"]["footage"].items())
    rows = [
        (_literal(e["expert"]), e["version"], e["code_licence"], e["weights_licence"] or "no weights")
        for e in audit["experts"]
    ]
    use = "allow" if audit["licences"]["commercial_ok"] else "do **not** all allow"
    if not rows:
        return "No footage is shown, and no expert's work is in it."
    experts = _table(("Expert", "Version", "Code", "Weights"), rows)
    return f"Footage: {footage}.\n\nCode and weights of the experts {use} commercial use.\n\n{experts}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def _literal(text: str) -> str:
    """Text that Markdown shows as it stands, on one line."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+!|~&" else c for c in flat)
