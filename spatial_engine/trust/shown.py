"""The last thing that `audit-labels` prints."""

from collections.abc import Iterator, Sequence

from rich.table import Column, Table

from experts.sigma_calibration import SigmaCalibration
from spatial_engine.progress import console, counted, printable
from spatial_engine.report.page import percent
from spatial_engine.trust.audited import LabelAudit
from spatial_engine.trust.metrics import AuditMetrics, LabelMetrics

_HEAD = ("σ of", "times", "set left out", "samples", "fit of the others", "within 1 σ %", "within 2 σ %")
_HEAD_WITHOUT = ("σ of", "samples", "would be times", "within 1 σ %", "within 2 σ %", "sets", "not calibrated because")


def sigma_table(calibration: SigmaCalibration) -> str:
    """What was fitted, a row per set that was left out; then what was measured and not fitted."""
    tables = [_markdown(_HEAD, list(_fitted(calibration)))] if calibration.factors else []
    tables += [_markdown(_HEAD_WITHOUT, list(_not_fitted(calibration)))] if calibration.not_calibrated else []
    return "\n\n".join(tables)


def _fitted(calibration: SigmaCalibration) -> Iterator[Sequence[str]]:
    for each in calibration.factors:
        of, factor = f"{each.expert} {each.version}: {each.signal}, {each.quantity}", f"{each.factor:.2f}"
        for one in each.held_out:
            yield (
                of,
                factor,
                one.set,
                str(one.samples),
                f"{one.fitted:.2f}",
                _percent(one.within_1),
                _percent(one.within_2),
            )
            of = factor = ""


def _not_fitted(calibration: SigmaCalibration) -> Iterator[Sequence[str]]:
    for each in calibration.not_calibrated:
        of = f"{each.expert} {each.version}: {each.signal}, {each.quantity}"
        numbers = (f"{each.fitted:.2f}", _percent(each.within_1), _percent(each.within_2))
        yield of, str(each.samples), *(numbers if each.samples else ("–", "–", "–")), ", ".join(each.sets), each.why


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def show_audit(audit: LabelAudit) -> None:
    """Two tables of leaves, then what is wrong with the truth or could not be read."""
    to = console()
    for title, found in (("held against truth", audit.truth), ("agreement, which proves nothing", audit.agreement)):
        if found is not None:
            to.print(_table(title, found))
    for sequence in audit.sequences:
        for what, number, remedy, severe in sequence.findings:
            word = f"unsound, {counted(sequence.unsound, 'frame')} are not counted" if severe else "note"
            to.print(printable(f"{sequence.name}: {word}: {what}: {number}"), markup=False, soft_wrap=True)
            to.print(printable(f"  try: {remedy}"), markup=False, soft_wrap=True)
    for name in audit.strangers:
        to.print(printable(f"{name}: not a clip of this data set"), markup=False, soft_wrap=True)
    for name, cause, remedy in audit.errors:
        to.print(printable(f"failed {name}: {cause}"), markup=False, soft_wrap=True)
        if remedy:
            to.print(printable(f"  try: {remedy}"), markup=False, soft_wrap=True)
    if audit.without["facts"]:
        where = counted(audit.without["clips"], "clip")
        to.print(f"no ground truth: {counted(audit.without['facts'], 'fact')} in {where}")
    if audit.undecided:
        to.print("nothing was decided: no label is shown to be right or wrong")


def _table(title: str, found: AuditMetrics) -> Table:
    numbers = ("right", "wrong", "open", "clips", "≤ %", "1σ %", "2σ %", "yield %", "/ min")
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
