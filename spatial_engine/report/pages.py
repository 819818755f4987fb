"""Writes the pages: overview, gallery, one page per clip."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experts.sigma_calibration import SigmaCalibration
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.options import StrPath
from spatial_engine.output_folder import atomic_folder, check_free
from spatial_engine.report.cards import filters
from spatial_engine.report.clip_page import clip_page
from spatial_engine.report.evaluation import is_evaluation, report_evaluation
from spatial_engine.report.gallery import FILTERS, FOLDER, PUZZLES, Gallery, write_gallery
from spatial_engine.report.page import write_page
from spatial_engine.store.store import Store, open_store
from templates.ability import LEAVES, LEVELS, TREE
from templates.columns import Json

REPORT_FILES = ("index.html", "gallery.html", "clips", "media", "pictures", FOLDER)
"""What a report consists of."""


def report(
    dataset: Dataset | str | Path, out: str | Path | None = None, *, store: Store | str | Path | None = None
) -> Path:
    """Writes the report of a dataset and returns its first page. `out` is `report/` in the dataset if not given.
    The OUT folder of `run` stands for its dataset and its store, and takes the report. The OUT folder of `evaluate`
    has a report of its own: of models and their answers.

    With the store that the dataset was made from, every clip gets a page of what was measured. A report inside its
    dataset shows the pictures there; elsewhere it gets links to them, or copies. Raises `UsageError` if `dataset` is
    none, or `out` holds something else.
    """
    if not isinstance(dataset, Dataset):
        whole = Path(dataset)
        if (whole / "dataset" / "audit.json").is_file():
            dataset, out = whole / "dataset", out or whole / "report"
            store = store or open_store(whole / "store")
        elif not (whole / "audit.json").is_file() and is_evaluation(whole):
            return report_evaluation(whole, None if out is None else Path(out))
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    store = open_store(store) if isinstance(store, StrPath) else store
    out = dataset.path / "report" if out is None else Path(out)
    inside = out.resolve().parent == dataset.path.resolve()
    pictures = "../" if inside else ""
    with atomic_folder(out, REPORT_FILES, _check) as folder:
        for name in ("clips", "pictures") if inside else ("clips", "pictures", "media"):
            (folder / name).mkdir()
        found = write_gallery(dataset, folder, bring_media=not inside)
        maps = SigmaCalibration.from_json(dataset.audit["settings"].get("sigma_calibration", {}))
        clips = _clip_pages(folder, found.by_clip, store, maps)
        write_page(folder / "gallery.html", "gallery.html", **_gallery(dataset, found, clips, pictures))
        write_page(folder / "index.html", "index.html", **_overview(dataset, found, clips, store, pictures))
    return out / "index.html"


def check_report(path: Path) -> None:
    """Raises `UsageError` if `report` would refuse to write to `path`: to be called before the work."""
    check_free(path, _check)


def _overview(
    dataset: Dataset, found: Gallery, clips: Sequence[Mapping[str, Any]], store: Store | None, pictures: str
) -> dict[str, Any]:
    audit = dataset.audit
    reasons: Counter[tuple[str, str]] = Counter()
    for kind in ("refused", "dropped"):
        for leaf, counts in audit[kind].items():
            reasons.update({(leaf, reason): count for reason, count in counts.items()})
    most = max((leaf["questions"] for leaf in audit["abilities"].values()), default=1)
    return {
        "root": "",
        "page": "overview",
        "name": dataset.path.resolve().name,
        "audit": audit,
        "tree": _tree(audit, reasons),
        "levels": LEVELS,
        "most": most,
        "leaves_total": len(LEAVES),
        "reasons": [(leaf, reason, count) for (leaf, reason), count in reasons.most_common()],
        "clips": clips,
        "samples": [(leaf, f"{pictures}{path}") for leaf, path in found.samples],
        "unopened": [(f.name, f.error) for f in store.footage() if f.error] if store is not None else [],
    }


def _tree(audit: Mapping[str, Json], reasons: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """By level, branch and leaf: path, counts, and the most frequent reason of refusals."""

    def leaf_of(path: str) -> dict[str, Any]:
        against = sorted(((n, reason) for (leaf, reason), n in reasons.items() if leaf == path), reverse=True)
        found = audit["abilities"].get(path, {"questions": 0, "facts": 0})
        return {"path": path, "reason": against[0][1] if against else "", **found}

    return {
        level: {
            branch: {leaf: leaf_of(f"{level}/{branch}/{leaf}") for leaf in leaves}
            for branch, leaves in branches.items()
        }
        for level, branches in TREE.items()
    }


def _gallery(dataset: Dataset, found: Gallery, clips: Sequence[Mapping[str, Any]], pictures: str) -> dict[str, Any]:
    """`pictures`: where `media/` lies, from the page."""
    return {
        "root": "",
        "page": "gallery",
        "name": dataset.path.resolve().name,
        "total": found.by_clip.total(),
        "index": f"{FOLDER}/index.js",
        "data": {
            "filters": filters(*FILTERS),
            "clips": {clip["id"]: {"name": clip["name"], "page": clip["page"]} for clip in clips},
            "shards": FOLDER,
            "root": pictures,
        },
    }


def _clip_pages(
    folder: Path, counts: Counter[str], store: Store | None, maps: SigmaCalibration
) -> list[dict[str, Any]]:
    """One entry per clip for the lists; writes the pages of those that the store knows."""
    in_store = set(store.readable_records()) if store is not None else set()
    entries = []
    for id in sorted((counts.keys() - {PUZZLES}) | in_store):
        entry: dict[str, Any] = {"id": id, "name": id, "page": "", "questions": counts[id]}
        if store is not None and id in in_store:
            page = clip_page(store, id, folder / "pictures", maps)
            entry |= {"name": page["clip"].name, "page": f"clips/{id}.html"}
            write_page(folder / entry["page"], "clip.html", root="../", page="clip", questions=counts[id], **page)
        entries.append(entry)
    return entries


def _check(path: Path) -> None:
    if not ((path / "index.html").is_file() and (path / "gallery.html").is_file()):
        raise UsageError(f"{path} holds something that is not a report", "name a folder that does not exist yet")
