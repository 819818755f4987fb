"""python -m examples.demo: annotate room.mp4 on its pixels alone, ask, and measure every fact again on the truth."""

import sys
from collections import defaultdict
from pathlib import Path

import spatial_engine as se
from spatial_engine.dataset.audit import set_truth
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.progress import for_terminal
from spatial_engine.rendering.demo_room import demo_scene
from spatial_engine.rendering.truth import true_signals
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import open_store
from templates.registry import create_templates
from templates.scene.scenes import scenes_of
from templates.truth import judge

CLIP = Path(__file__).parent / "room.mp4"
OUT = Path("demo")


def main() -> int:
    """Exit code 0 if no answer is wrong."""
    with for_terminal() as progress:
        dataset = se.run(CLIP, OUT, upright=True, licence="Apache-2.0", progress=progress)
    counts = truth_of(dataset, OUT / "store")
    set_truth(dataset.path, counts, source="the renderer's exact scene")
    se.report(dataset, OUT / "report", store=se.open_store(OUT / "store"))
    questions, facts = sum(1 for _ in dataset.questions), sum(counts.values())
    print(f"{questions} questions, {facts} facts, {counts['wrong']} wrong")
    undecided = f"{counts['undecidable']} that the scene itself does not decide"
    print(f"(held against the exact scene: {counts['right']} right, {undecided})")
    print(f"dataset: {dataset.path}/   report: {(OUT / 'report' / 'index.html').resolve().as_uri()}")
    return int(counts["wrong"] > 0)


def truth_of(dataset: Dataset, store_path: Path) -> dict[str, int]:
    """Facts of the dataset by what the exact scene says of them; one wrong format makes a fact wrong."""
    questions = list(dataset.questions)
    store = open_store(store_path)
    (clip_id,) = store.clip_ids()
    clip = clip_from_json(store.record(clip_id).clip)
    shown = sorted({frame for q in questions for medium in q.media for frame in medium.get("frames", [])})
    (truth,) = scenes_of(clip, true_signals(demo_scene(), clip, shown))
    templates = create_templates()
    verdicts = defaultdict(list)
    for question in questions:
        verdicts[question.fact_id].append(judge(question, templates[question.template], truth))
    of_facts = [False if False in v else (True if True in v else None) for v in verdicts.values()]
    return {"right": of_facts.count(True), "wrong": of_facts.count(False), "undecidable": of_facts.count(None)}


if __name__ == "__main__":
    sys.exit(main())
