"""Published scorers by name: `spatial-engine score ITEMS RESPONSES --as NAME`, on a benchmark's own items.

Third parties add theirs through entry points of `spatial_engine.scorers`:

    [project.entry-points."spatial_engine.scorers"]
    my_bench = "my_package.my_bench:MyBench"        # a Scorer that takes no arguments
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar

from experts.registry import Registry, UnknownNameError
from spatial_engine.errors import UsageError
from templates.answers.score import Score
from templates.columns import Json

_PUBLISHED = "spatial_engine.scoring.published"
SCORERS = Registry(
    "spatial_engine.scorers",
    {
        "spatialtree": f"{_PUBLISHED}.spatialtree:SpatialTree",
        "spatialtree_strict": f"{_PUBLISHED}.spatialtree:SpatialTreeStrict",
        "spatialtree_paper": f"{_PUBLISHED}.spatialtree:SpatialTreePaper",
        "vsi_bench": f"{_PUBLISHED}.vsi_bench:VsiBench",
        "vsi_bench_vlmevalkit": f"{_PUBLISHED}.vsi_bench:VsiBenchVlmevalkit",
        "vsi_bench_paper": f"{_PUBLISHED}.vsi_bench:VsiBenchPaper",
        "vsi_bench_strict": f"{_PUBLISHED}.vsi_bench:VsiBenchStrict",
        "site": f"{_PUBLISHED}.lmms_eval:Site",
        "site_vlmevalkit": f"{_PUBLISHED}.vlmevalkit:Site",
        "choices_vlmevalkit": f"{_PUBLISHED}.vlmevalkit:Choices",
        "mindcube": f"{_PUBLISHED}.lmms_eval:MindCube",
        "omnispatial": f"{_PUBLISHED}.lmms_eval:OmniSpatial",
        "omnispatial_json": f"{_PUBLISHED}.lmms_eval:OmniSpatialJson",
        "omnispatial_direct": f"{_PUBLISHED}.lmms_eval:OmniSpatialDirect",
        "stare": f"{_PUBLISHED}.vlmevalkit:Stare",
        "escherverse": f"{_PUBLISHED}.escherverse:EscherVerse",
        "escherverse_repository": f"{_PUBLISHED}.escherverse:EscherVerseRepository",
        "escherverse_strict": f"{_PUBLISHED}.escherverse:EscherVerseStrict",
        "spatiallogic": f"{_PUBLISHED}.spatiallogic:SpatialLogic",
        "spatiallogic_strict": f"{_PUBLISHED}.spatiallogic:SpatialLogicStrict",
    },
)
"""All published scorers. A name without suffix reproduces the benchmark's own code (EscherVerse: its paper);
`_strict` is the same score without its known defects, with this package's readers of answers."""

IDS = ("id", "question_id", "session_id", "index", "pid")
"""Fields that may hold an item's id; the first that is there counts."""
Item = Mapping[str, Any]
"""One row of a benchmark, with its own fields."""


@dataclass(frozen=True, kw_only=True)
class ScoredItem:
    """One item with the score of its response."""

    item: Item
    score: Score


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What a benchmark reports for one model, as fractions."""

    score: float | None
    """The number that the benchmark ranks by; None where it has none."""
    categories: Mapping[str, float | None]
    detail: Mapping[str, Json] = field(default_factory=dict)
    """What else is reported, by name."""


class Scorer(ABC):
    """A benchmark's score of a response, and of a model. A subclass gives `source`, `fields` and `score`."""

    source: ClassVar[str]
    """What is scored and where that is published, in one line."""
    fields: ClassVar[Mapping[str, str]]
    """What an item must hold beside its id: the name of each field, and its meaning."""

    @abstractmethod
    def score(self, item: Item, response: str) -> Score:
        """Score of one response. Raises `UsageError` for an item that cannot be scored; never for a response."""

    def category(self, item: Item) -> str:
        """The group in which an item is also reported; "" for none."""
        return ""

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """Totals over all items: by default the mean, and the mean of each category."""
        return Totals(score=mean(scored), categories={name: mean(own) for name, own in self.groups(scored).items()})

    def groups(self, scored: Iterable[ScoredItem]) -> dict[str, list[ScoredItem]]:
        """Items by their category, sorted by it, without those that have none."""
        found: dict[str, list[ScoredItem]] = defaultdict(list)
        for one in scored:
            if category := self.category(one.item):
                found[category].append(one)
        return dict(sorted(found.items()))


def create_scorer(name: str) -> Scorer:
    """The scorer called `name`. Raises `UsageError`, which lists the known ones."""
    try:
        scorer: Scorer = SCORERS.load(name)()
    except UnknownNameError as error:
        raise UsageError(f"no scorer is called {name!r}", f"choose one of {', '.join(SCORERS.targets())}") from error
    return scorer


def score_items(
    scorer: Scorer, items: Iterable[Item], responses: Mapping[str, str | None]
) -> tuple[list[ScoredItem], Totals]:
    """Every item with its score, and the totals. `responses` by the id of the item; a missing one scores 0.

    Raises `UsageError` for an item without an id or without a field of `scorer.fields`.
    """
    scored = []
    for number, item in enumerate(items, start=1):
        response = responses.get(item_id(item, number))
        if missing := [name for name in scorer.fields if name not in item]:
            needed = "; ".join(f"{name}: {meaning}" for name, meaning in scorer.fields.items())
            raise UsageError(f"item {item_id(item, number)} has no field {missing[0]!r}", f"it needs {needed}")
        score = Score(value=0.0, detail={"missing": True}) if response is None else scorer.score(item, response)
        scored.append(ScoredItem(item=item, score=score))
    return scored, scorer.total(scored)


def item_id(item: Item, number: int) -> str:
    """The id of the item on line `number`, as text. Raises `UsageError` if it has none."""
    for name in IDS:
        if isinstance(item.get(name), str | int):
            return str(item[name])
    raise UsageError(f"item {number} has no id", f"give each item one of the fields {', '.join(IDS)}")


def mean(scored: Sequence[ScoredItem]) -> float | None:
    """Mean score; None of nothing."""
    return fmean(one.score.value for one in scored) if scored else None
