"""Ablation of the gates, one by one: yield lost and wrong facts prevented; writes docs/gates.md.

    python -m benchmarks.trust.ablation OUT [--rooms N] [--hard N] [--thorough N] [--seed N] [--workers N] [--quick]

OUT keeps footage, signals and results (not for committing). In the folder of `benchmarks.trust` the signals of the
rooms are there already. A stopped run resumes: a gate of a clip is evaluated again only if the code changed. `--quick`
evaluates two clips and three gates, and writes no table.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import spatial_engine as se
from benchmarks.trust.__main__ import ROOMS
from benchmarks.trust.asked import REAL_FACTS, Known, Setup, asked, count
from benchmarks.trust.cached_reconstructions import Cache, cached_reconstructions
from benchmarks.trust.clips import HardClip, RoomClip
from benchmarks.trust.code_hash import ROOT, digest
from benchmarks.trust.gate_table import Result, table, with_table
from benchmarks.trust.gates import GATES, Gate
from benchmarks.trust.hard_rooms import KINDS
from benchmarks.trust.switch import concerned, signals_without, switched_setup
from benchmarks.trust.verdicts import made_in
from experts.expert import Expert
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks
from spatial_engine.annotation.plan import choose_experts
from spatial_engine.atomic_file import read_json, write_json
from spatial_engine.dataset.question_line import plain
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store
from templates.settings import AskSettings

NOTHING = Gate(name="nothing", guards="")
"""Stands for no gate."""
_CODE = (
    "spatial_engine/rendering/*.py",
    "benchmarks/trust/rooms.py",
    "benchmarks/trust/creatures.py",
    "benchmarks/trust/hard_*.py",
    *(f"{floor}/**/*.py" for floor in ("experts", "action_mapping", "templates")),
    *(f"spatial_engine/{part}/**/*.py" for part in ("annotation", "dataset", "sources", "store", "trust")),
    "benchmarks/trust/asked.py",
    "benchmarks/trust/switch.py",
    "benchmarks/trust/cached_reconstructions.py",
)
"""Code that the results depend on: if it changes, they are made again."""
_QUICK_GATES = (
    "plausible focal length",
    "isolated points are suspected outliers",
    "every fact measured on two reconstructions",
)

AnyClip = RoomClip | HardClip


@dataclass(frozen=True, kw_only=True)
class Ablate:
    """The task of a worker: evaluates all gates on one clip."""

    out: Path
    code: str
    seed: int

    def __call__(self, task: tuple[AnyClip, Sequence[Gate]]) -> str:
        """Evaluates the missing gates; returns a line with the facts asked with all gates, and the duration."""
        clip, gates = task
        begun, missing = time.monotonic(), [gate for gate in (NOTHING, *gates) if self.kept(clip, gate) is None]
        if missing:
            setup = Setup(seed=self.seed, ask=AskSettings(facts_per_template=REAL_FACTS))
            work = _Work(clip=clip, folder=made_in(self.out / clip.name), setup=setup)
            for gate in missing:
                base = None if gate is NOTHING else self.kept(clip, NOTHING)
                write_json(self._file(clip, gate), plain(asdict(work.without(gate, base, self.code))))
        found = self.kept(clip, NOTHING)
        assert found is not None
        facts = dict(count(one for parts in found.clips.values() for one in parts.values()))
        return f"{facts}, {len(missing)} gates in {time.monotonic() - begun:.0f} s"

    def kept(self, clip: AnyClip, gate: Gate) -> Result | None:
        """The stored result; None if there is none, or other code wrote it."""
        file = self._file(clip, gate)
        result = Result.from_json(read_json(file)) if file.is_file() else None
        return result if result is not None and result.code == self.code else None

    def _file(self, clip: AnyClip, gate: Gate) -> Path:
        return self.out / clip.name / "gates" / f"{gate.key}_{self.seed}.json"


@dataclass(frozen=True)
class _Work:
    """Footage and base signals of one clip, and a cache of its reconstructions."""

    clip: AnyClip
    folder: Path
    setup: Setup

    def without(self, gate: Gate, base: Result | None, code: str) -> Result:
        """The result without a gate. Templates that it does not affect are copied from `base`, the result with all."""
        found, touched, errors = {}, False, dict[str, str]()
        for id, known in self._known.items():
            signals, changed = dict(self._store.signals(id)), set[str]()
            if gate is not NOTHING:
                with cached_reconstructions(self._cache):
                    signals, changed, failed = signals_without(gate, known.clip, signals, self._experts)
                errors |= failed
            setup = switched_setup(self.setup, gate)
            names = list(setup.templates) if base is None else concerned(setup, gate, changed)
            own = asked(known, signals, setup, names)
            if base is None and (broken := [f"{name}: {one.error}" for name, one in own.items() if one.error]):
                raise RuntimeError(broken[0])  # without a gate it may fail, not with all of them
            found[id] = own if base is None else {**base.clips[id], **own}
            touched |= base is not None and found[id] != base.clips[id]
        kind = self.clip.kind if isinstance(self.clip, HardClip) else ""
        return Result(
            clip=self.clip.name, kind=kind, gate=gate.name, touched=touched, code=code, clips=found, errors=errors
        )

    @cached_property
    def _store(self) -> Store:
        self.folder.mkdir(parents=True, exist_ok=True)
        footage, options = self.clip.footage(self.folder)
        with cached_reconstructions(self._cache):
            return se.annotate(footage, self.folder / "store", options=options)

    @cached_property
    def _known(self) -> dict[str, Known]:
        clips = [clip_from_json(self._store.record(id).clip) for id in self._store.clip_ids()]
        truths = self.clip.truths(clips)
        return {clip.id: Known.of(clip, truths[clip.id]) for clip in clips}

    @cached_property
    def _experts(self) -> list[Expert]:
        return choose_experts(None)

    @cached_property
    def _cache(self) -> Cache:
        return Cache()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every gate was evaluated on its clips."""
    given = _parser().parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    ablate = Ablate(out=given.out.resolve(), code=digest(_CODE), seed=given.seed)
    tasks = tasks_of(given)
    failed = make(tasks, ablate, given.workers)
    results = [found for clip, gates in tasks for gate in (NOTHING, *gates) if (found := ablate.kept(clip, gate))]
    _print_wrong(results)
    _print_errors(results)
    if given.quick or failed:
        print(f"{failed} of {len(tasks)} clips failed; no table")
        return int(failed > 0)
    text = table(results, GATES, seed=given.seed, code=ablate.code)
    given.page.write_text(with_table(given.page.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(f"wrote {given.page}")
    return 0


def make(tasks: Sequence[tuple[AnyClip, Sequence[Gate]]], ablate: Ablate, workers: int) -> int:
    """Makes the missing results; returns the number of clips that failed."""
    begun, failed = time.monotonic(), 0
    for number, ((clip, _), found) in enumerate(run_tasks(ablate, tasks, workers), start=1):
        outcome = f"failed: {found.error}\n{found.traceback}" if isinstance(found, Crashed) else found
        failed += isinstance(found, Crashed)
        print(f"{number}/{len(tasks)} {time.monotonic() - begun:5.0f} s  {clip.name:34} {outcome}", flush=True)
    return failed


def tasks_of(given: argparse.Namespace) -> list[tuple[AnyClip, Sequence[Gate]]]:
    """Clips with the gates to evaluate, those of docs/trust.md and hard ones: all gates on some clips of each style and
    one of each hard kind, on the others those that need no expert to run."""
    first = given.seed * 1_000_000
    if given.quick:
        gates = [gate for gate in GATES if gate.name in _QUICK_GATES]
        return [(RoomClip(seed=first), gates), (HardClip(kind="many movers", seed=first), gates)]
    counts = ROOMS if given.rooms is None else dict.fromkeys(ROOMS, given.rooms)
    rooms = [[RoomClip(seed=first + k, style=style) for k in range(count)] for style, count in counts.items()]
    hard = [[HardClip(kind=kind, seed=first + k) for k in range(given.hard)] for kind in KINDS]
    thorough = [clip for clips in rooms for clip in clips[:: given.thorough]] + [clips[0] for clips in hard if clips]
    others = [clip for clips in (*rooms, *hard) for clip in clips if clip not in thorough]
    quickly = [gate for gate in GATES if not gate.of_expert]
    return [*((clip, GATES) for clip in thorough), *((clip, quickly) for clip in others)]


def _print_wrong(results: Sequence[Result]) -> None:
    """Prints every wrong label that passes all gates."""
    for result in results:
        for name, one in result.parts() if result.gate == NOTHING.name else ():
            for question in one.wrong:
                print(f"WRONG {result.clip} {name} {question}")


def _print_errors(results: Sequence[Result]) -> None:
    """Prints every expert and template that failed without a gate."""
    for result in results:
        failed = {**result.errors, **{name: one.error for name, one in result.parts() if one.error}}
        for name, error in failed.items():
            print(f"FAILED {result.clip}, without {result.gate!r}: {name}: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.ablation", description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rooms", type=int, help="rooms of each style; default: those of docs/trust.md")
    parser.add_argument("--hard", type=int, default=3, help="hard clips of each kind (%(default)s)")
    parser.add_argument(
        "--thorough",
        type=int,
        default=5,
        help="of so many rooms of a style, one also evaluates the gates of experts (%(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of rooms and of everything else")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/gates.md", help="page with a table to replace")
    parser.add_argument("--quick", action="store_true", help="two clips, three gates, no table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
