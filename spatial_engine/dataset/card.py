"""The data card: README.md with the front matter that Hugging Face reads. It is made from audit.json and cost.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.dataset.cost import read_cost
from spatial_engine.dataset.examples import examples_in_words, literal
from spatial_engine.progress import counted
from templates.columns import Json
from templates.question import BY_PEOPLE
from templates.unanswerable import UNDETERMINED
from templates.world import NO_FOOTAGE

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


_LOADING = """\
```python
import json

with open("provenance.jsonl", encoding="utf-8") as file:
    shared = {record.pop("origin"): record for record in map(json.loads, file)}
with open("questions.jsonl", encoding="utf-8") as file:
    questions = [record | shared[record.pop("origin")] for record in map(json.loads, file)]
for question in questions[:3]:
    print(question["instructions"], question["prompt"], question["options"], question["answer"])
    print([medium["path"] for medium in question["media"]])
```

A line of `questions.jsonl` is a question; its `origin` names the line of `provenance.jsonl` with the question's
`instructions`, `provenance` and `licence`. `datasets` reads the lines, too (5.2; older versions do not know columns
whose type differs from row to row):

```python
from datasets import load_dataset

lines = load_dataset("json", data_files="questions.jsonl", split="train")
```

If there is a folder `report`, `report/gallery.html` shows all questions: open it from disk."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a dataset lies in its folder: in what its own card differs from those of its exports."""

    data_files: str = " questions.jsonl"
    """For the front matter: a value of YAML after a colon."""
    loading: str = _LOADING
    """How to load it; its code runs in the folder."""
    pictures: str = "media"
    """The folder of the examples' pictures."""


_OWN = Form()


def write_card(folder: Path, audit: Mapping[str, Json], name: str) -> None:
    """Writes the card of the dataset in a folder; `name` is what the user calls it."""
    (folder / "README.md").write_bytes(card(audit, name, read_cost(folder)).encode("utf-8", "replace"))


def card(audit: Mapping[str, Json], name: str, cpu_s: float | None = None, form: Form = _OWN) -> str:
    """The card as Markdown. `name` is the user's and is escaped. `cpu_s`: CPU seconds of asking."""
    sections = (
        _front_matter(audit, name, form),
        f"# {literal(name)}\n\n{_summary(audit)}{_cost(audit, cpu_s)}",
        f"## What is asked\n\n{_abilities(audit)}",
        *([f"## Examples\n\n{examples_in_words(shown, form.pictures)}"] if (shown := audit.get("examples")) else []),
        f"## How to load it\n\n{form.loading}",
        *([f"## Wording\n\n{_wording(audit)}"] if audit.get("rephrased") else []),
        f"## What was not asked, and why\n\n{_reasons(audit)}",
        f"## How accurate the labels are\n\n{_trust(audit)}",
        f"## How to score it\n\n{_SCORING}",
        f"## Licences\n\n{_licences(audit)}",
        f"## Limits\n\n{_LIMITS}",
    )
    return "\n\n".join(sections) + "\n"


_HUB_LICENCES = ("Apache-2.0", "MIT", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC0-1.0")
_REASONS = 10
"""Rows of reasons shown; more are folded."""
_SCORING = """\
Show the pictures of `media` in their order (those with `"option": true` are
the options of a choice, in the order of `options`), then `instructions` and `prompt`, then the options lettered A, B,
C ...

- `choice`: right if the letter is `answer`. `yes_no`: right if the word is `answer`.
- `numeric`: right within `tolerance` of `answer`; a count (`scorer` is `count`) if it is equal. `json`: every number
  within its tolerance, angles wrapped; a box (`scorer` is `box` or `box_3d`) from an IoU of 0.5 on.
- `point`: right within `tolerance` pixels of `answer`, stated for a picture of `frame_size_px`; a region (`scorer` is
  `region`) at every pixel of its polygons in `scorer_params`.
- `order`: right if the list is `answer`. `set`: right if it has the same words, in any order. `text`: the share of the
  `claims` in `scorer_params` that a judge model finds.
- `map`: the share of pairs of objects that lie on the right side of each other (left, right, above, below: the larger
  offset of their positions).
- `plan`: `actions` with `step_nums`, followed from the camera of photo 1. A turn is `rotation_step_deg`, a step
  `translation_step_m`, or 1/`step_fraction` of a distance that the question names (all in `scorer_params`). It is right
  if it ends within `tolerance` steps of the target pose.

`sigma` is one standard deviation of a numeric answer, as errors typically are. Whether a question is asked was decided
with a larger one, which holds for difficult clips; `margin`, the distance of a label from the nearest other label, is
stated in it. Neither includes outliers; `evidence.p_right` does. `tolerance` is null for labels.

All formats of one fact share `fact_id`. Keep them in the same split, as `splits` in `audit.json` does."""

_BY_PEOPLE = """\
{count} corrected or written by people (`template` is `by_people`): nobody has measured the answer, so there is no σ and
no `margin`. The author and at least one other person hold it to be right, and no majority does not."""

_LIMITS = """\
- σ is one standard deviation of the measurement behind an answer, including its systematic part. A question is asked
  only if its answer is right with at least the probability `min_confidence` of the settings. At that threshold about
  one answer in a hundred may be wrong; most answers lie far above it.
- Facts that are easy to measure are asked more often. Counts describe the footage and the experts, not the world.
- Undecided facts are not asked. A model's score here refers to the decided facts only."""


def _front_matter(audit: Mapping[str, Json], name: str, form: Form) -> str:
    size = next((label for limit, label in _SIZES if audit["questions"] < limit), "n>1M")
    lines = (
        "---",
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        f"license: {_one_licence(audit)}",
        f"language: [{', '.join(_languages(audit))}]",
        "task_categories: [visual-question-answering]",
        "tags: [spatial-reasoning, 3d]",
        f'size_categories: ["{size}"]',
        "configs:",
        "  - config_name: default",
        f"    data_files:{form.data_files}",
        "---",
    )
    return "\n".join(lines)


def _languages(audit: Mapping[str, Json]) -> list[str]:
    """Languages of the prompts; instructions and options are English."""
    return ["en", *sorted({*audit.get("rephrased", {}).get("languages", {})} - {"en"})]


def _wording(audit: Mapping[str, Json]) -> str:
    """Who reworded the prompts, how many, and why not the others."""
    found = audit["rephrased"]
    if found["model"] is None:
        who = "Prompts take other wordings of their templates"
    else:
        who = (
            f"Prompts are reworded by {literal(found['model'])}. A rewording is used only if rules find its numbers, "
            f"units, names, marks, negations and frames of reference unchanged, and if {literal(found['reader'])} "
            "finds the original among questions that differ from it in one thing"
        )
    share = f" ({100 * found['kept'] / found['chosen']:.1f} %)" if found["chosen"] else ""
    said = ", ".join(f"{name} {count}" for name, count in found["languages"].items())
    lines = [
        f"{who}. {found['kept']} of {found['chosen']} prompts are reworded{share}; `rephrased` in a line holds the "
        f"original. Languages of the prompts: {said}. Instructions and options are English."
    ]
    rows = [(literal(reason), str(count)) for reason, count in found["unused"].items()]
    lines += [_table(("Why a prompt stays", "Count"), rows)] if rows else []
    return "\n\n".join(lines)


def _one_licence(audit: Mapping[str, Json]) -> str:
    """The Hub's name of the footage's licence if there is one for all, else "other"."""
    names = [name for name in audit["licences"].get("footage", {}) if name != NO_FOOTAGE]
    return names[0].lower() if len(names) == 1 and names[0] in _HUB_LICENCES else "other"


def _summary(audit: Mapping[str, Json]) -> str:
    if not audit["questions"]:
        return f"No questions could be asked about {audit['clips']} clips. The reasons are below."
    puzzles = audit.get("puzzles", 0)
    clips = f"{audit['clips_with_questions']} of {counted(audit['clips'], 'clip')}"
    subjects = [f"{counted(audit['facts'] - puzzles, 'fact')}, measured in {clips}"] if audit["clips"] else []
    subjects += [f"{counted(puzzles, 'puzzle')} without footage"] if puzzles else []
    return (
        f"{counted(audit['questions'], 'spatial question')} about {', and about '.join(subjects)}. Every answer "
        "carries its error bar (`sigma`, `tolerance` or `margin`), its evidence, its provenance and its licence. Made "
        f"by Spatial Engine, seed {audit['seed']}."
    )


def _cost(audit: Mapping[str, Json], cpu_s: float | None) -> str:
    """The rate of questions, if it was measured."""
    if not cpu_s or not audit["questions"]:
        return ""
    rate = audit["questions"] / cpu_s
    return f" Asking, drawing and auditing took {cpu_s:,.0f} CPU seconds: {rate:.3g} questions per CPU second."


def _abilities(audit: Mapping[str, Json]) -> str:
    rows = [
        (leaf, str(found["questions"]), str(found["facts"]), ", ".join(f"{k} {v}" for k, v in found["formats"].items()))
        for leaf, found in audit["abilities"].items()
    ]
    table = _table(("Ability", "Questions", "Facts", "Formats"), rows) if rows else "Nothing."
    return "\n\n".join([table, *_unanswerable(audit), *_surplus(audit)])


def _surplus(audit: Mapping[str, Json]) -> list[str]:
    """The limit of facts, if there were more."""
    most = audit["settings"].get("ask", {}).get("facts_per_template")
    more = sum(audit.get("surplus", {}).values())
    if not more or most is None:
        return []
    wanted = audit["settings"].get("puzzles")
    puzzles = f", and {counted(wanted, 'puzzle')} per template" if wanted else ""
    return [f"{more} more facts were proposed: at most {most} are asked per template and clip{puzzles}."]


def _unanswerable(audit: Mapping[str, Json]) -> list[str]:
    """One line per template that offers the option "cannot be determined"."""
    return [
        f"{found['offered']} choices of `{name}` offer the option that it cannot be determined. It is right in "
        f'{found["right"]} of them; their `value` is "{UNDETERMINED}".'
        for name, found in audit.get("unanswerable", {}).items()
    ]


def _reasons(audit: Mapping[str, Json]) -> str:
    """The most frequent reasons; the others are folded."""
    found = [
        (count, leaf or "all", literal(reason))
        for kind in ("refused", "dropped")
        for leaf, reasons in audit[kind].items()
        for reason, count in reasons.items()
    ]
    if not found:
        return "Every proposed question was asked."
    head = ("Ability", "Reason", "Count")
    rows = [(leaf, reason, str(count)) for count, leaf, reason in sorted(found, key=lambda row: (-row[0], row[1:]))]
    table, others = _table(head, rows[:_REASONS]), rows[_REASONS:]
    if not others:
        return table
    words = "1 more reason" if len(others) == 1 else f"{len(others)} more reasons"
    return f"{table}\n\n<details><summary>{words}</summary>\n\n{_table(head, others)}\n\n</details>"


def _trust(audit: Mapping[str, Json]) -> str:
    truth = audit["truth"]
    accuracy = (
        f"Compared with ground truth: {truth['right']} facts are right, {truth['wrong']} are wrong, and "
        f"{truth['undecidable']} are undecidable."
        if truth
        else "No ground truth was available for this footage (`truth` in `audit.json` is null)."
    )
    accuracy = f"{accuracy}\n\n{_human(audit.get('human'))}"
    if by_people := audit.get("templates", {}).get(BY_PEOPLE):
        accuracy = f"{accuracy}\n\n{_BY_PEOPLE.format(count=counted(by_people, 'question'))}"
    blind = [
        (label.replace("_", " "), f"{100 * share:.1f} %")
        for label, share in audit["baselines"].items()
        if share is not None
    ]
    if not blind:
        return accuracy
    return f"{accuracy}\n\nAccuracy of guessing without the pictures:\n\n{_table(('Guess', 'Right'), blind)}"


def _human(human: Mapping[str, Json] | None) -> str:
    """Verdicts of people on the recorded answers, by leaf, and the agreement of each pair of people."""
    if not human:
        return "No person has judged the answers (`human` in `audit.json` is null)."
    words = ("right", "wrong", "undecided", "bad", "disputed")
    rows = [(leaf, *(str(counts[word]) for word in words)) for leaf, counts in human["abilities"].items()]
    who = "1 person" if human["annotators"] == 1 else f"{human['annotators']} people"
    lines = [
        f"Judged by {who}: of {human['questions']} recorded answers {human['right']} are right and {human['wrong']} "
        f"wrong; the pictures do not decide {human['undecided']}; {human['bad']} questions are badly asked, and "
        f"{human['disputed']} have no majority. Valid: {100 * human['valid']:.1f} %, with 95 % "
        f"confidence at least {100 * human['valid_at_least']:.1f} %.",
        _table(("Ability", "Right", "Wrong", "Undecided", "Badly asked", "No majority"), rows),
        *(_agreement(pair) for pair in human["pairs"]),
    ]
    return "\n\n".join(lines)


def _agreement(pair: Mapping[str, Json]) -> str:
    kappa = (
        "Cohen's κ is undefined: all verdicts are the same"
        if pair["kappa"] is None
        else f"Cohen's κ {pair['kappa']:.2f}, 95 % interval {pair['low']:.2f} to {pair['high']:.2f}"
    )
    return f"Two people agree in {100 * pair['agreement']:.1f} % of {pair['questions']} questions ({kappa})."


def _licences(audit: Mapping[str, Json]) -> str:
    records = [
        (
            literal(record["footage"]),
            literal(", ".join(record["signals"])) or "none",
            "yes" if record["commercial_ok"] else "**no**",
            str(record["questions"]),
        )
        for record in audit["licences"].get("records", ())
    ]
    experts = [
        (literal(e["expert"]), e["version"], e["code_licence"], e["weights_licence"] or "no weights")
        for e in audit["experts"]
    ]
    if not experts:
        return "The dataset shows no footage and uses no expert."
    use = "allow" if audit["licences"]["commercial_ok"] else "do **not** all allow"
    return "\n\n".join(
        (
            f"Every question states its `licence`. Code and weights of the experts {use} commercial use.",
            _table(("Footage", "Code and weights", "These allow commercial use", "Questions"), records),
            _table(("Expert", "Version", "Code", "Weights"), experts),
        )
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
