"""Prints verdicts, agreement and disagreements."""

import json
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spatial_engine.adjudication.agreement import disagreements, pairs, settled
from spatial_engine.adjudication.label_studio import Imported
from spatial_engine.adjudication.showing import recorded
from spatial_engine.adjudication.steps import WORDS
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.progress import counted, printable
from templates.columns import Json


def show_summary(verdicts: Verdicts, human: Mapping[str, Json] | None, to: Console) -> None:
    """Counts per leaf, agreement of each pair of annotators, and the number of disputed questions."""
    if human is None:
        to.print("no question of this dataset has been judged yet")
    else:
        title = f"{counted(human['questions'], 'question')} judged by {human['annotators']}"
        table = Table("leaf", *WORDS, "disputed", title=title)
        for leaf, counts in {**human["abilities"], "all": human}.items():
            table.add_row(_safe(leaf), *(str(counts[word] or "") for word in (*WORDS, "disputed")))
        to.print(table)
        to.print(f"valid: {human['valid']:.1%} (95 % lower bound {human['valid_at_least']:.1%})", soft_wrap=True)
        blind = human["blind"]
        if blind["answers"]:
            told = f"{blind['right']} right, {blind['could_not_tell']} could not tell"
            to.print(f"answered before the recorded answer was shown: {blind['answers']}, {told}", soft_wrap=True)
        _show_pairs(verdicts, to)
        if human["disputed"]:
            to.print(f"{human['disputed']} disputed: --disagreements lists them", soft_wrap=True)
    if verdicts.items:
        done = f"{counted(len(settled(verdicts)), 'question')} settled: --to-dataset FOLDER writes them"
        to.print(f"{counted(len(verdicts.items), 'item')} corrected or written by people; {done}", soft_wrap=True)
    if outdated := verdicts.outdated():
        to.print(f"not counted: {counted(outdated, 'judged question')} changed or removed since", soft_wrap=True)


def show_disagreements(verdicts: Verdicts, to: Console) -> None:
    """One block per question with the verdicts and notes of its annotators."""
    found = disagreements(verdicts)
    for one in found:
        question = one.question
        to.print(f"{_safe(question.id)}  {_safe(question.ability)}  {_safe(question.prompt)}", soft_wrap=True)
        to.print(f"  recorded: {_safe(json.dumps(recorded(question), ensure_ascii=False))}", soft_wrap=True)
        for name, judgement in sorted(one.judgements.items()):
            if judgement.verdict is not None:
                note = f": {judgement.verdict.note}" if judgement.verdict.note else ""
                to.print(f"  {_safe(name)} says {judgement.verdict.verdict}{_safe(note)}", soft_wrap=True)
    remedy = "; --disagreements --annotator NAME shows them to a third person" if found else ""
    to.print(f"{counted(len(found), 'disagreement')}{remedy}", soft_wrap=True)


def show_dataset(path: Path, counts: Mapping[str, int]) -> None:
    """Where the dataset is, and what people changed in it."""
    print(
        f"written: {printable(str(path))}, with {counts['corrected']} corrected and {counts['written']} new by people"
    )
    if left := counts["not_settled"]:
        print(f"  {counted(left, 'item')} left out: no other person agrees yet, or a newer one replaces it")


def show_import(done: Imported, to: Console) -> None:
    """Numbers of added and skipped verdicts, with reasons."""
    to.print(f"{counted(done.verdicts, 'verdict')} added")
    for reason, count in sorted(done.left_out.items()):
        to.print(f"  {count} skipped: {_safe(reason)}", soft_wrap=True)


def _show_pairs(verdicts: Verdicts, to: Console) -> None:
    found = pairs(verdicts)
    if not found:
        return
    table = Table("agreement", "leaf", "questions", "same", "κ", "95 %")
    for pair in found:
        known = pair.agreement
        interval = "" if known.low is None or known.high is None else f"{known.low:.2f} to {known.high:.2f}"
        kappa = "not defined" if known.kappa is None else f"{known.kappa:.2f}"
        names = " and ".join(pair.names)
        table.add_row(_safe(names), "all", str(known.questions), f"{known.agreement:.1%}", kappa, interval)
        for leaf, (count, same) in pair.by_leaf.items():
            table.add_row("", _safe(leaf), str(count), f"{same / count:.1%}", "", "")
    to.print(table)


def _safe(text: str) -> str:
    return escape(printable(text))
