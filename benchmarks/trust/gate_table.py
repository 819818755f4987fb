"""The ablation in docs/gates.md: the yield that each gate loses, and the wrong facts that it prevents."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from benchmarks.trust.asked import Asked
from benchmarks.trust.gates import Gate

_PACKAGES = ("spatial-engine", "numpy", "scipy", "opencv-python-headless", "pycolmap", "pyceres", "av")
FREE = 0.001
"""Loss of yield (as a share) below which a gate has no cost."""
MARK = "<!-- written by make gates -->\n"
"""The line before and after the ablation."""
_INTRO = """\
## Ablation

Written by `make gates`. A gate rejects candidate facts whose answer may be wrong. Each gate is switched off alone, and
everything that depends on it is computed again. *Yield lost* is the yield without the gate minus the yield with it, in
percentage points (of facts drawn from the images alone, as in docs/trust.md); it is negative where the gate increases
the yield. *Wrong*: number of wrong facts with the gate → without it, of all facts asked without it. *Wrong facts
prevented* are asked only without the gate. A gate is **needed** if it prevents a wrong fact; it has **no cost** if it
prevents none and its yield lost over all clips is below 0.1 points; otherwise it **costs only** (no benefit measured).
Gates overlap: the facts that one gate rejects may be rejected by another as well, and then neither shows a benefit. Up
to 16 facts per template and clip are asked, twice the default, so that rare errors show. Yield is measured on other,
randomly drawn facts: a clip without facts may have one."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What is asked about one clip without one gate."""

    clip: str
    """Name of the footage."""
    kind: str
    """Kind of a hard clip; "" for an ordinary room."""
    gate: str
    """The gate that was switched off; "nothing" for none."""
    touched: bool
    """Whether the result differs from that with all gates."""
    code: str
    clips: Mapping[str, Mapping[str, Asked]]
    """By clip id (footage with a cut gives several clips) and template."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Of experts that failed without the gate, by name."""

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> "Result":
        """The inverse of `asdict`."""
        clips = {
            id: {name: Asked(**{**one, "wrong": tuple(one["wrong"])}) for name, one in by_template.items()}
            for id, by_template in parts["clips"].items()
        }
        return cls(**{**parts, "clips": clips})

    def parts(self) -> Iterator[tuple[str, Asked]]:
        """(template, facts asked) of every clip."""
        for by_template in self.clips.values():
            yield from by_template.items()

    def facts(self, *words: str) -> set[str]:
        """Ids of facts with one of these verdicts."""
        return {id for _, one in self.parts() for id, word in one.facts.items() if word in words}

    @property
    def drawn(self) -> int:
        """Facts drawn from the media alone."""
        return sum(one.drawn for _, one in self.parts())

    @property
    def decided(self) -> int:
        """Drawn facts that are asked."""
        return sum(one.decided for _, one in self.parts())


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The effect of a gate on some clips."""

    clips: int
    touched: int
    """Clips whose result differs without the gate."""
    asked: tuple[int, int]
    """Facts that the truth decides, with the gate and without."""
    wrong: tuple[int, int]
    prevented: int
    """Wrong facts without the gate that are not asked, or not wrong, with it."""
    cost: float
    """Yield without the gate minus yield with it, as a share."""


def effect(pairs: Sequence[tuple[Result, Result]]) -> Effect:
    """From pairs (with the gate, without it), one per clip."""
    drawn = sum(on.drawn for on, _ in pairs)
    return Effect(
        clips=len(pairs),
        touched=sum(off.touched for _, off in pairs),
        asked=tuple(sum(len(each[k].facts("right", "wrong")) for each in pairs) for k in (0, 1)),  # type: ignore[arg-type]
        wrong=tuple(sum(len(each[k].facts("wrong")) for each in pairs) for k in (0, 1)),  # type: ignore[arg-type]
        prevented=sum(len(off.facts("wrong") - on.facts("wrong")) for on, off in pairs),
        cost=sum(off.decided - on.decided for on, off in pairs) / drawn if drawn else 0.0,
    )


def word(found: Effect) -> str:
    """The verdict on a gate."""
    if found.prevented:
        return "needed"
    return "no cost" if found.cost < FREE else "costs only"


def table(results: Sequence[Result], gates: Sequence[Gate], *, seed: int, code: str) -> str:
    """The section. Equal results give equal bytes."""
    base = {result.clip: result for result in results if result.gate not in {gate.name for gate in gates}}
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    ordinary = sum(not result.kind for result in base.values())
    lines = [
        _INTRO,
        "",
        f"- seed {seed}; {ordinary} rooms of docs/trust.md, {len(base) - ordinary} hard clips",
        f"- Python {platform.python_version()}, {packages}; code {code}",
        "",
        "### Gates",
        "",
        *_of_gates(base, results, gates),
        "",
        "### Clips with all gates",
        "",
        *_of_kinds(list(base.values())),
    ]
    return "\n".join(lines) + "\n"


def with_table(page: str, section: str) -> str:
    """The page with another ablation between its marks."""
    before, _, after = page.split(MARK)
    return f"{before}{MARK}\n{section}\n{MARK}{after}"


def _of_gates(base: dict[str, Result], results: Sequence[Result], gates: Sequence[Gate]) -> Iterator[str]:
    ordinary, hard = (f"{kind}: yield lost (points) | {kind}: wrong facts" for kind in ("ordinary", "hard"))
    yield f"| error source | gate | clips tested, changed | {ordinary} | {hard} | wrong facts prevented | verdict |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|---|"
    for gate in gates:
        pairs = [(base[off.clip], off) for off in results if off.gate == gate.name]
        all_, easy, hard = (effect([p for p in pairs if bool(p[1].kind) in which]) for which in ((0, 1), (0,), (1,)))
        cells = [gate.guards, gate.name, f"{all_.clips}, {all_.touched}"]
        for found in (easy, hard):
            cells += [f"{100 * found.cost:+.1f}", f"{found.wrong[0]} → {found.wrong[1]} of {found.asked[1]}"]
        yield f"| {' | '.join([*cells, str(all_.prevented), word(all_)])} |"


def _of_kinds(base: Sequence[Result]) -> Iterator[str]:
    yield "| clips | number | facts | wrong | yield % |"
    yield "|---|--:|--:|--:|--:|"
    for kind in sorted({result.kind for result in base}):
        own = [result for result in base if result.kind == kind]
        found = effect([(result, result) for result in own])
        drawn, decided = sum(r.drawn for r in own), sum(r.decided for r in own)
        share = f"{100 * decided / drawn:.1f}" if drawn else "–"
        yield f"| {kind or 'ordinary rooms'} | {len(own)} | {found.asked[0]} | {found.wrong[0]} | {share} |"
