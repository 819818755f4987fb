"""docs/gates.md: what every gate costs and saves, as a rule says it."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.trust.gate_result import Result
from benchmarks.trust.gates import Gate

_PACKAGES = ("spatial-engine", "numpy", "scipy", "opencv-python-headless", "pycolmap", "av")
DEAR = 0.001
"""Share of yield from which on a gate costs something."""
_INTRO = """\
# What each gate costs and saves

Written by `make gates`. Each gate is turned off by itself, all others on; everything that follows from it is made
again. *Cost* is the yield without the gate minus the yield with it, in points (facts drawn from the media alone, as in
docs/trust.md). *Wrong* counts facts, with the gate → without it. *Saved* are the wrong facts that are asked only
without it. A gate **earns its place** if it saves anything; it **costs nothing** if it saves nothing and its cost is
below 0.1 points; else it **saves nothing here**. Gates overlap: what one saves may be what another would have refused.
Up to 24 facts of a template are asked of a clip, so that errors show."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Of a gate, on some clips."""

    clips: int
    touched: int
    """Clips of which something else is asked without it."""
    asked: tuple[int, int]
    """Facts that truth decides, with the gate and without."""
    wrong: tuple[int, int]
    saved: int
    """Wrong facts without the gate that are not asked, or not wrong, with it."""
    cost: float
    """Yield without the gate minus yield with it, as a share."""


def effect(pairs: Sequence[tuple[Result, Result]]) -> Effect:
    """Of (with the gate, without it), clip by clip."""
    drawn = sum(on.drawn for on, _ in pairs)
    return Effect(
        clips=len(pairs),
        touched=sum(off.touched for _, off in pairs),
        asked=tuple(sum(len(each[k].facts("right", "wrong")) for each in pairs) for k in (0, 1)),  # type: ignore[arg-type]
        wrong=tuple(sum(len(each[k].facts("wrong")) for each in pairs) for k in (0, 1)),  # type: ignore[arg-type]
        saved=sum(len(off.facts("wrong") - on.facts("wrong")) for on, off in pairs),
        cost=sum(off.decided - on.decided for on, off in pairs) / drawn if drawn else 0.0,
    )


def word(found: Effect) -> str:
    """The verdict on a gate."""
    if found.saved:
        return "earns its place"
    return "costs nothing" if found.cost < DEAR else "saves nothing here"


def table(results: Sequence[Result], gates: Sequence[Gate], *, seed: int, first: int, code: str) -> str:
    """The whole document. Equal results, equal bytes."""
    base = {result.clip: result for result in results if result.gate not in {gate.name for gate in gates}}
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    ordinary = sum(not result.kind for result in base.values())
    lines = [
        _INTRO,
        "",
        f"- seed {seed}; {ordinary} ordinary rooms from seed {first} on, {len(base) - ordinary} hard clips",
        f"- Python {platform.python_version()}, {packages}; code {code}",
        "",
        "## Gates",
        "",
        *_of_gates(base, results, gates),
        "",
        "## Clips with all gates on",
        "",
        *_of_kinds(list(base.values())),
    ]
    return "\n".join(lines) + "\n"


def _of_gates(base: dict[str, Result], results: Sequence[Result], gates: Sequence[Gate]) -> Iterator[str]:
    yield "| guards | gate | clips, touched | ordinary: cost | wrong | hard: cost | wrong | saved | verdict |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|---|"
    for gate in gates:
        pairs = [(base[off.clip], off) for off in results if off.gate == gate.name]
        all_, easy, hard = (effect([p for p in pairs if bool(p[1].kind) in which]) for which in ((0, 1), (0,), (1,)))
        cells = [gate.guards, gate.name, f"{all_.clips}, {all_.touched}"]
        for found in (easy, hard):
            cells += [f"{100 * found.cost:+.1f}", f"{found.wrong[0]} → {found.wrong[1]} of {found.asked[1]}"]
        yield f"| {' | '.join([*cells, str(all_.saved), word(all_)])} |"


def _of_kinds(base: Sequence[Result]) -> Iterator[str]:
    yield "| clips | number | facts | wrong | yield % |"
    yield "|---|--:|--:|--:|--:|"
    for kind in sorted({result.kind for result in base}):
        own = [result for result in base if result.kind == kind]
        found = effect([(result, result) for result in own])
        drawn, decided = sum(r.drawn for r in own), sum(r.decided for r in own)
        share = f"{100 * decided / drawn:.1f}" if drawn else "–"
        yield f"| {kind or 'ordinary rooms'} | {len(own)} | {found.asked[0]} | {found.wrong[0]} | {share} |"
