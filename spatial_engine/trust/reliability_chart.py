"""The reliability curve as a chart: observed over expected share of errors within kσ."""

from collections.abc import Mapping

from markupsafe import Markup

from spatial_engine.report.chart import CARD, SERIES, SOFT, chart
from spatial_engine.trust.metrics import Coverage

FEWEST = 20
"""Least numbers of a curve; with fewer it is mostly noise."""
_TICKS = ([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])


def reliability_chart(coverages: Mapping[str, Coverage | None]) -> Markup | None:
    """One curve per name with enough numbers; None if there is none."""
    drawable = {name: found for name, found in coverages.items() if found is not None and found.numbers >= FEWEST}
    if not drawable:
        return None
    words = []
    with chart(760, 400) as drawn:
        axes = drawn.axes(aspect="equal", xlim=(0, 1.02), ylim=(0, 1.02))
        axes.set(xlabel="% of errors expected within kσ", ylabel="% observed")
        axes.set_xticks(*_TICKS)
        axes.set_yticks(*_TICKS)
        axes.plot([0, 1], [0, 1], color=SOFT, linestyle="--", linewidth=1)
        for index, (name, found) in enumerate(drawable.items()):
            places = [f"within {at.sigmas:.2f} σ: {at.observed:.0%}, expected {at.nominal:.0%}" for at in found.curve]
            expected, observed = [at.nominal for at in found.curve], [at.observed for at in found.curve]
            line = axes.plot(
                expected, observed, color=SERIES[index % len(SERIES)], linewidth=2,
                marker="o", markersize=5, markeredgecolor=CARD,
                label=f"{name}: {found.numbers} numbers, {found.clips} clips",
            )  # fmt: skip
            drawn.tell(line, f"{name}, {'; '.join(places)}")
            words.append(f"{name} {', '.join(places)}")
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
        return drawn.svg(f"Share of errors within kσ, over the expected share. {'. '.join(words)}")
