"""What truth says of the signals themselves: σ by coverage, outlier_probability by counting."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.trust.aims import percent
from spatial_engine.trust.signal_errors_record import SignalErrors, joined_counts


def signal_rows(errors: Sequence[SignalErrors]) -> Iterator[str]:
    """Two tables, each with its heading; nothing where nothing was measured. Clips with many errors count for more."""
    kinds = sorted({(each.expert, each.signal, each.quantity) for each in errors})
    of = {kind: [each for each in errors if (each.expert, each.signal, each.quantity) == kind] for kind in kinds}
    known = {kind: own for kind, own in of.items() if sum(len(each.off) for each in own)}
    if known:
        yield from ("", "### Signals: errors in σ as stated", "")
        yield from (
            "| expert | signal | quantity | clips | errors | 1 σ % | 2 σ % |",
            "|---|---|---" + "|--:" * 4 + "|",
        )
        for kind, own in known.items():
            reach = np.concatenate([each.off / np.hypot(1, each.other) for each in own])
            within = [f"{100 * np.mean(reach <= sigmas):.0f}" for sigmas in (1, 2)]
            yield f"| {' | '.join(kind)} | {len(own)} | {len(reach)} | {' | '.join(within)} |"
    doubted = {kind: counts for kind, own in of.items() if (counts := joined_counts(each.gross for each in own))}
    if doubted:
        yield from ("", "### Signals: outliers (outlier_probability)", "")
        yield from ("| expert | signal | quantity | claimed | measured | of |", "|---|---|---" + "|--:" * 3 + "|")
        for kind, counts in doubted.items():
            for each in counts:
                measured = percent(each.gross / each.samples, 2)
                yield f"| {' | '.join(kind)} | {percent(each.claimed, 2)} | {measured} | {each.samples} |"
