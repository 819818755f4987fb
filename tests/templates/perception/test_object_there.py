"""Whether a photo shows an object of a name: only of names of which every object is listed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects
from templates.perception.object_presence import ObjectThere
from tests.templates import worlds

TEMPLATE = ObjectThere()


def photos(*, complete: tuple[str, ...] = ("*",), labels: tuple[str, ...] = ("chair", "table", "lamp")) -> Objects:
    """Two photos without depth or path: a chair and a table; a lamp and a table."""
    ids = np.full((2, 48, 64), -1, dtype=np.int32)
    ids[0, 5:20, 5:20] = 0
    ids[:, 25:40, 5:20] = 1
    ids[1, 5:20, 30:50] = 2
    return Objects(
        frames=np.array([0, 5]),
        labels=labels,
        ids=ids,
        world_from_object=np.full((2, 3, 4, 4), np.nan),
        provenance=worlds.SOURCE,
        complete=complete,
    )


def answers(objects: Objects) -> dict[tuple[int, str], str]:
    """By photo and name."""
    drafts = worlds.drafts(worlds.ask(TEMPLATE, {"objects": objects}))
    return {(draft.fact["frame"], draft.fact["name"]): str(worlds.written(draft)) for draft in drafts}


def test_names_that_some_photos_show_and_others_do_not_are_asked_for() -> None:
    assert answers(photos()) == {(0, "chair"): "yes", (5, "chair"): "no", (0, "lamp"): "no", (5, "lamp"): "yes"}
    assert answers(photos(complete=("Chair_1",))) == {(0, "chair"): "yes", (5, "chair"): "no"}
    assert not answers(photos(complete=()))


def test_yes_and_no_are_as_frequent_for_every_name() -> None:
    found = worlds.ask(TEMPLATE, worlds.signals(), facts=200)
    counts = Counter((draft.fact["name"], worlds.written(draft)) for draft in worlds.drafts(found))
    names = {name for name, _ in counts}
    assert len(names) >= 2 and all(0 < counts[name, "yes"] == counts[name, "no"] for name in names)
    mistakes = {(worlds.written(draft), *draft.traps.items()) for draft in worlds.drafts(found)}
    assert mistakes == {("yes", ("overlooked", "no")), ("no", ("guessed from the kind of room", "yes"))}


@pytest.mark.parametrize("where", [(slice(25, 26), slice(5, 8)), (slice(40, 48), slice(0, 2))])
def test_what_is_hardly_visible_is_neither_there_nor_absent(where: tuple[slice, slice]) -> None:
    objects = photos()
    ids = objects.ids.copy()
    ids[1][where] = 0
    assert (5, "chair") not in answers(replace(objects, ids=ids))


@pytest.mark.parametrize(
    "labels",
    [
        ("chair", "table", "armchair"), ("chair", "table", "椅子"), ("chair", "table", "thing"),
        ("chair", "table", "bar stools"),
    ],
)  # fmt: skip
def test_what_may_be_called_so_leaves_it_open(labels: tuple[str, ...]) -> None:
    assert (5, "chair") not in answers(photos(labels=labels))


def test_a_name_that_may_be_wrong_leaves_it_open() -> None:
    doubt = np.array([0.0, 0.02, 0.0])
    assert not answers(replace(photos(), name_outlier_probability=doubt))


def test_a_name_that_no_photo_shows_is_not_measured() -> None:
    fact = TEMPLATE.facts.from_json([{"frame": 0, "name": "sofa"}, {"frame": 3, "name": "chair"}])
    measured = TEMPLATE.measure(fact, worlds.scene({"objects": photos()}))  # type: ignore[arg-type]
    assert measured.why.tolist() == [
        "no photo of the clip shows an object of this name",
        "the photo has no objects",
    ]
