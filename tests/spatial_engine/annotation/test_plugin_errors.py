"""Errors of plug-ins name the plug-in and the line; ours keep their traceback in the store."""

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.tracking.klt import KltExpert
from spatial_engine.annotation.plugin_errors import expert_error, is_template_error, template_error
from spatial_engine.pipeline import annotate
from templates.generate import ask_clip
from templates.offer import Offer
from templates.perception.orientation import CameraTilt
from templates.question import Phrasing
from templates.settings import AskSettings
from templates.template import TemplateError
from tests.spatial_engine.fake_footage import write_folders
from tests.templates import worlds

PLUGIN = """
from experts.registry import EXPERTS


def measure(picture):
    raise ValueError("no lens of this kind")


class Plugin:
    name, version, settings = "my_depth", "1", None
    provides, needs, options = frozenset({"gravity"}), frozenset(), frozenset()

    def load(self, weights=None, device="auto", dtype=None):
        pass

    def close(self):
        pass

    def __call__(self, clip, signals):
        return {"gravity": measure(next(clip.read()))}
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    folder = tmp_path / "site" / "my_package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "depth.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(folder.parent)
    yield importlib.import_module("my_package.depth").Plugin()
    for name in ("my_package", "my_package.depth"):
        sys.modules.pop(name, None)


def test_a_plug_in_is_named_with_its_line(plugin: object, tmp_path: Path) -> None:
    line = PLUGIN.splitlines().index('    raise ValueError("no lens of this kind")') + 1
    store = annotate(write_folders(tmp_path / "videos", 1), tmp_path / "store", experts=[plugin])
    (failure,) = store.present_failures(store.clip_ids()[0])
    assert failure.error == f"plug-in my_depth (my_package/depth.py:{line}): ValueError: no lens of this kind"
    assert str(tmp_path) not in failure.error


TEMPLATE = """
from templates.perception.orientation import CameraTilt


class Crooked(CameraTilt):
    def measure(self, facts, scene):
        return facts.to_json()[0]["tilt"]
"""


def test_a_template_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crooked_template.py").write_text(TEMPLATE)
    monkeypatch.syspath_prepend(tmp_path)
    template = importlib.import_module("crooked_template").Crooked()
    with pytest.raises(TemplateError, match="the template camera_tilt failed") as raised:
        ask_clip(worlds.clip(), worlds.signals(), [template], AskSettings(), 0)
    line = TEMPLATE.splitlines().index('        return facts.to_json()[0]["tilt"]') + 1
    said = template_error(raised.value.template, raised.value.__cause__)
    whose = "the template camera_tilt of the package crooked_template failed in measure"
    assert said == f"{whose} (crooked_template.py:{line}): KeyError: 'tilt'" and is_template_error(said)
    assert template_error(CameraTilt(), ValueError("odd")) == "the template camera_tilt failed: ValueError: odd"
    sys.modules.pop("crooked_template")


def test_a_template_that_fails_costs_its_own_questions_alone() -> None:
    tilt = CameraTilt()
    broken = Strings()
    asked = ask_clip(worlds.clip(), worlds.signals(), [broken, tilt], AskSettings(), 0, template_error)
    alone = ask_clip(worlds.clip(), worlds.signals(), [tilt], AskSettings(), 0)
    assert alone.asked and repr(asked.asked) == repr(alone.asked)
    (refusal,) = [each for each in asked.refusals if each.template == "strings"]
    assert refusal.ability == broken.ability and "Phrasing.options holds int; allowed: str, Photo" in refusal.reason
    said = r"the template strings of the package tests failed in phrase \([\w/]*test_plugin_errors.py:\d+\): TypeError"
    assert re.match(said, refusal.reason)


@dataclass(frozen=True, kw_only=True)
class Strings(CameraTilt):
    name: str = "strings"

    def phrase(self, *given: object) -> Phrasing:
        return Phrasing(media=(), options=(1, 2))  # type: ignore[arg-type]


@pytest.mark.parametrize(("right", "undetermined"), [(2, False), (-1, False), (3, True)])
def test_an_offer_has_the_index_of_the_right_option(right: int, undetermined: bool) -> None:
    two = np.array([["left", "right"], ["left", "right"]])
    given = {"options": two, "right": np.array([1, right]), "undetermined": np.array([False, undetermined])}
    with pytest.raises(ValueError, match=rf"Offer.right is {right} in row 1; allowed: 0 to {1 + undetermined}"):
        Offer(why=np.array(["", ""]), **given)
    refused = Offer(why=np.array(["", "no room"]), **given)
    assert refused.right is not None and refused.right[1] == right, "a refused row means nothing"


@pytest.mark.parametrize("parts", [{"right": None}, {"options": np.array([["left", "right"]])}])
def test_an_offer_has_a_row_for_every_question(parts: dict[str, Any]) -> None:
    given = {"options": np.array([["left", "right"]] * 2), "right": np.array([1, 0]), **parts}
    with pytest.raises(ValueError, match="Offer has"):
        Offer(why=np.array(["", ""]), **given)


def test_ours_say_what_happened_alone() -> None:
    assert expert_error(KltExpert(), ValueError("odd")) == "ValueError: odd"
