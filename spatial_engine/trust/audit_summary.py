"""The last thing that `audit-labels` prints."""

from rich.table import Column, Table

from spatial_engine.progress import console, counted, printable
from spatial_engine.report.page import percent
from spatial_engine.trust.audited import LabelAudit
from spatial_engine.trust.metrics import AuditMetrics, LabelMetrics


def show_audit(audit: LabelAudit) -> None:
    """Two tables by leaf, then findings about the truth and what could not be read."""
    to = console()
    for title, found in (
        ("compared with ground truth", audit.truth),
        ("agreement, which proves nothing", audit.agreement),
    ):
        if found is not None:
            to.print(_table(title, found))
    for sequence in audit.sequences:
        for what, number, remedy, severe in sequence.findings:
            word = f"unsound, {counted(sequence.unsound, 'frame')} are not counted" if severe else "note"
            to.print(printable(f"{sequence.name}: {word}: {what}: {number}"), markup=False, soft_wrap=True)
            to.print(printable(f"  try: {remedy}"), markup=False, soft_wrap=True)
    for name in audit.not_in_dataset:
        to.print(printable(f"{name}: not a clip of this dataset"), markup=False, soft_wrap=True)
    for name, cause, remedy in audit.errors:
        to.print(printable(f"failed {name}: {cause}"), markup=False, soft_wrap=True)
        if remedy:
            to.print(printable(f"  try: {remedy}"), markup=False, soft_wrap=True)
    if audit.without["facts"]:
        where = counted(audit.without["clips"], "clip")
        to.print(f"no ground truth: {counted(audit.without['facts'], 'fact')} in {where}")
    if audit.undecided:
        to.print("the truth decides no label")


def _table(title: str, found: AuditMetrics) -> Table:
    numbers = ("right", "wrong", "undecidable", "clips", "≤ % wrong", "1σ %", "2σ %", "yield %", "facts/min")
    columns = [Column(name, justify="right", no_wrap=True) for name in numbers]
    table = Table(Column("leaf", no_wrap=True), *columns, title=title, box=None, padding=(0, 1, 0, 0))
    for name, part in [*found.leaves.items(), ("all", found.all)]:
        table.add_row(_short(name), *cells(part))
    return table


def cells(found: LabelMetrics) -> list[str]:
    """right, wrong, undecidable, clips, bound, within 1 σ and 2 σ, yield, facts a minute: one row of any table."""
    facts, within = found.facts, found.coverage
    return [
        str(facts.right),
        str(facts.wrong),
        str(facts.undecidable),
        str(facts.clips),
        percent(facts.bound),
        percent(None if within is None else within.within_1, 0),
        percent(None if within is None else within.within_2, 0),
        percent(None if found.yielded is None else found.yielded.share, 0),
        "–" if found.facts_per_minute is None else f"{found.facts_per_minute:.0f}",
    ]


def _short(leaf: str) -> str:
    """Level and last name of a leaf."""
    parts = leaf.split("/")
    return leaf if len(parts) < 2 else f"{parts[0]} {parts[-1]}"
