"""Questions asked in rendered rooms and answered again by an independent way: from points on the surfaces."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from experts.objects.object_names import folded
from experts.signals import NoEstimate, Signal
from spatial_engine.rendering import RenderedScene, as_clip
from templates.columns import Json
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.scene.objects import UNNAMED
from templates.settings import AskSettings

IsRight = Callable[[RenderedScene, Mapping[str, Json], Json], bool]
"""Whether the answer to a fact is right."""

_GRID = np.stack(np.meshgrid(*[np.linspace(-1, 1, 15)] * 3), axis=-1).reshape(-1, 3)
_FACES = _GRID[np.abs(_GRID).max(axis=1) == 1]


def surface(scene: RenderedScene, row: int, frame: int) -> np.ndarray:
    """Points on all boxes of an object, in the world."""
    poses = scene.world_from_boxes(frame)
    each = scene.objects[row].boxes
    return np.concatenate([_FACES * scene.furniture[k].half_m @ poses[k][:3, :3].T + poses[k][:3, 3] for k in each])


def meant(scene: RenderedScene, ref: Mapping[str, Json]) -> int:
    """The object that a reference points at."""
    x, y = np.round(ref["inside_px"]).astype(int)
    row = int(scene.object_ids(ref["frame"])[y, x])
    assert row >= 0 and ref["name"] in (folded(scene.objects[row].name), UNNAMED)
    return row


def check(
    scene: RenderedScene, signals: Mapping[str, Signal | NoEstimate], right: Mapping[str, IsRight], least: set[str]
) -> None:
    """Asks the templates of `right`, and compares every answer; those of `least` ask something."""
    templates = [TEMPLATES.load(name)() for name in right]
    found = ask_clip(as_clip(scene), dict(signals), templates, AskSettings(facts_per_template=60), 0)
    asked = [
        (one.template.name, fact, draft.answer.to_json().answer)
        for one in found.asked
        for fact, draft in zip(one.facts.to_json(), one.drafts(), strict=True)
    ]
    assert {name for name, _, _ in asked} >= least
    for name, fact, value in asked:
        assert right[name](scene, fact, value), (name, fact, value)


def seeds(quick: int, all_of_them: int, sampled: int = 1) -> pytest.MarkDecorator:
    """Rooms: the first few in every run, CI's sample adds what lacks to so many, all where all long tests run."""
    slow = [pytest.param(seed, marks=pytest.mark.long(sample=seed < sampled)) for seed in range(quick, all_of_them)]
    return pytest.mark.parametrize("seed", [*range(quick), *slow])
