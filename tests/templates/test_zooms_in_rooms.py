"""What is asked about clips that zoom, answered again by where surface points go in rendered pictures."""

from collections.abc import Iterator

import numpy as np
import pytest

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import Effects, RenderedScene
from spatial_engine.rendering.truth import true_signals
from templates.asked import Draft
from templates.generate import ask_clip
from templates.registry import create_templates
from templates.settings import AskSettings
from tests.templates.worlds import written

PATHS = {"static": camera_paths.static, "rotates": camera_paths.pure_rotation, "travels": camera_paths.walk}


def room(path: str, zoom: float) -> RenderedScene:
    rng = np.random.default_rng(0)
    return random_room(
        rng,
        frames=16,
        width_px=64,
        height_px=48,
        path=PATHS[path],
        effects=Effects(zoom=zoom),  # type: ignore[arg-type]
    )


def drafts(scene: RenderedScene) -> Iterator[Draft]:
    """All questions of all templates."""
    clip = as_clip(scene)
    found = ask_clip(clip, true_signals(scene, clip), list(create_templates().values()), AskSettings(), 0)
    yield from (draft for asked in found.asked for draft in asked.drafts())


def size_of_far_thing(scene: RenderedScene, frame: int) -> float:
    """Pixels that a metre at 10 m takes in the middle of the picture."""
    a, b = scene.camera(frame).project(np.array([[-0.5, 0.0, 10.0], [0.5, 0.0, 10.0]]))
    return float(np.linalg.norm(b - a))


@pytest.mark.parametrize("zoom", [1.5, 1 / 1.5])
@pytest.mark.parametrize("path", list(PATHS))
def test_every_answer_is_that_of_the_pictures(path: str, zoom: float) -> None:
    scene, asked = room(path, zoom), 0
    for draft in drafts(scene):
        if draft.template not in ("camera_zoom", "how_it_moves"):
            continue
        frames, answer = dict(draft.fact)["frames"], written(draft)
        sizes = [size_of_far_thing(scene, frame) for frame in frames]
        factor = sizes[-1] / sizes[0]
        if draft.template == "camera_zoom" and draft.format == "numeric":
            assert answer == pytest.approx(factor, rel=0.1)
        elif draft.template == "camera_zoom":
            word = draft.options[answer].value
            assert word == ("in" if factor > 1.05 else "out" if factor < 0.95 else "not")
        elif draft.template == "how_it_moves":
            word = draft.options[answer].value
            assert path == "static" and word == "zooms", "who turns and zooms does neither alone"
        asked += draft.template == "camera_zoom"
    assert asked >= 8


def test_a_clip_that_zooms_answers_no_question_that_takes_one_camera_for_it() -> None:
    names = {draft.template for draft in drafts(room("travels", 1.4))}
    assert names <= {"camera_zoom", "how_it_moves", "camera_turn", "camera_travel", "camera_moves", "camera_tilt"} | {
        "roll_side",
        "tilt_order",
    }
    assert {"camera_zoom", "camera_travel"} <= names
