"""Fuzzes what reads files and replies from outside, guided by coverage: whatever they hold, errors are in words.

    pip install atheris        beside this package; tests do not need it
    python -m benchmarks.fuzz [SECONDS] [FOLDER] [READER ...]      by default 60 s for each reader, in fuzz/

Starts from whole inputs (fuzz_seeds.json); changes values where they are JSON, bytes anywhere. An error that is not one
of the project's own, 30 s and 4 GB of memory are findings. FOLDER/READER/corpus keeps the inputs that reached new code:
the next run goes on from them. FOLDER/READER/findings has an input and a traceback for each place that raised.
"""

import json
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

SEEDS: dict[str, list[str]] = json.loads(Path(__file__).with_name("fuzz_seeds.json").read_text())
CLIP = Path(__file__).parents[1] / "examples" / "demo" / "room.mp4"
ODD = (None, True, -1, 0, 1e308, 10**30, float("nan"), float("inf"), "", "x", "9" * 5000, [], {}, [[]])


def reader(name: str, folder: Path) -> tuple[Callable[[bytes], object], list[str]]:
    """What reads an input, and whole inputs."""
    import spatial_engine as se
    from experts.detections.reading import read_detections
    from spatial_engine.annotation.executor import attempt
    from spatial_engine.evaluation.protocol import Presentation
    from spatial_engine.evaluation.responses import Response, ResponseFile
    from spatial_engine.evaluation.score_responses import score_item
    from spatial_engine.sequences.manifest import read_manifest
    from spatial_engine.sources import clip_from_json
    from spatial_engine.sources.trajectories import read_trajectory

    file, dataset, store = folder / "input", folder / "dataset", folder / "store"
    if name in ("questions", "reply"):
        questions, file = [*se.generate(None, dataset, puzzles=1).questions], dataset / "questions.jsonl"
    elif name == "clip_record":
        se.annotate(CLIP, store, experts="valid_area", workers=0)
        file = next((store / "clips").rglob("clip.json"))

    def reply(data: bytes) -> None:
        asked = Presentation(questions[(data or b"0")[0] % len(questions)])
        found = score_item(asked, Response(id=asked.question.id, text=data[1:].decode("utf-8", "replace")))
        assert 0 <= getattr(found, "score", 0) <= 1

    of_files: dict[str, Callable[[Path], object]] = {
        "manifest": read_manifest,
        "detections": read_detections,
        # whatever making a clip of its record raises is recorded as the clip's failure
        "clip_record": lambda _: [
            attempt(clip_from_json, one.clip) for one in se.Store(store).readable_records().values()
        ],
        "questions": lambda path: [*se.Dataset.open(path.parent).questions],
        "responses": lambda path: ResponseFile(path).read(),
    }
    read = of_files.get(name, lambda path: read_trajectory(path, form=name, fps=10.0))  # type: ignore[arg-type]
    seeds = SEEDS[name] or file.read_text().splitlines()[:20]
    return reply if name == "reply" else lambda data: read(file) if file.write_bytes(data) >= 0 else None, seeds


def changed(value: Any, whole: Any, rng: random.Random) -> Any:
    """A JSON value with one part replaced, or left out."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice((*ODD, whole))
    copy: Any = value.copy()
    key = rng.choice([*value] if isinstance(value, dict) else range(len(value)))
    if rng.random() < 0.1:
        del copy[key]
    else:
        copy[key] = changed(value[key], whole, rng)
    return copy


def fuzz(name: str, seconds: str, root: Path) -> None:
    """Fuzzes one reader; ends the process."""
    import atheris

    with atheris.instrument_imports(include=["spatial_engine", "experts", "templates"]):
        read, seeds = reader(name, Path(tempfile.mkdtemp()))
        from experts.detections.stated import NotDetections
        from spatial_engine.errors import SpatialEngineError
    for folder in (corpus := root / name / "corpus", findings := root / name / "findings"):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_text(seed)

    def once(data: bytes) -> None:
        try:
            read(data)
        except (SpatialEngineError, NotDetections) as error:
            assert str(error).strip()
        except Exception as error:
            places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            file = findings / sha256(f"{type(error)}{places[-3:]}".encode()).hexdigest()[:12]
            file.write_bytes(data)
            file.with_suffix(".txt").write_text(traceback.format_exc())

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        try:
            value = json.loads(data) if rng.random() < 0.5 else None
        except (ValueError, RecursionError):
            value = None
        other = json.dumps(changed(value, value, rng)).encode() if isinstance(value, dict | list) else None
        return atheris.Mutate(data, most) if other is None or len(other) > most else other

    limits = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=4096", "-max_len=8192"]
    told = [f"-artifact_prefix={findings}/", "-print_final_stats=1"]
    atheris.Setup(["fuzz", *limits, *told, str(corpus)], once, custom_mutator=mutated)
    atheris.Fuzz()


def main(seconds: str = "60", folder: str = "fuzz", *names: str) -> None:
    """Fuzzes the readers in turn, each in a process of its own."""
    for name in names or SEEDS:
        call = f"from benchmarks.fuzz import *; fuzz({name!r}, {seconds!r}, Path({folder!r}))"
        told = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True).stderr
        count = [line.split()[1] for line in told.splitlines() if line.startswith("stat::number_of_executed_units")]
        found = {file.stem for file in Path(folder, name).glob("findings/*")}
        print(f"{name}: {count[0] if count else told[-2000:]} inputs, {len(found)} findings", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
