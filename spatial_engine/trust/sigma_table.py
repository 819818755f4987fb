"""Maps of σ as a table of markdown: for the terminal and docs/sigma_maps.md."""

from collections.abc import Iterator, Sequence

from experts.sigma_maps import SigmaMaps

_HEAD = ("σ of", "times", "set left out", "samples", "fit of the others", "within 1 σ %", "within 2 σ %")
_HEAD_WITHOUT = ("σ of", "samples", "would be times", "within 1 σ %", "within 2 σ %", "sets", "no map because")


def sigma_table(maps: SigmaMaps) -> str:
    """What was fitted, a row per set that was left out; then what was measured and not fitted."""
    tables = [_table(_HEAD, list(_fitted(maps)))] if maps.maps else []
    tables += [_table(_HEAD_WITHOUT, list(_not_fitted(maps)))] if maps.without else []
    return "\n\n".join(tables)


def _fitted(maps: SigmaMaps) -> Iterator[Sequence[str]]:
    for each in maps.maps:
        of, gain = f"{each.expert} {each.version}: {each.signal}, {each.quantity}", f"{each.gain:.2f}"
        for one in each.held_out:
            yield (
                of,
                gain,
                one.set,
                str(one.samples),
                f"{one.fitted:.2f}",
                _percent(one.within_1),
                _percent(one.within_2),
            )
            of = gain = ""


def _not_fitted(maps: SigmaMaps) -> Iterator[Sequence[str]]:
    for each in maps.without:
        of = f"{each.expert} {each.version}: {each.signal}, {each.quantity}"
        numbers = (f"{each.fitted:.2f}", _percent(each.within_1), _percent(each.within_2))
        yield of, str(each.samples), *(numbers if each.samples else ("–", "–", "–")), ", ".join(each.sets), each.why


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
