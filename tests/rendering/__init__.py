"""Scenes with exact truth: textured boxes in a room, ray-cast in numpy (DESIGN §11)."""

from tests.rendering.clips import as_clip, write_video
from tests.rendering.demo_room import demo_scene
from tests.rendering.scene import Effects, RenderedScene
from tests.rendering.truth import true_signals

__all__ = ["Effects", "RenderedScene", "as_clip", "demo_scene", "true_signals", "write_video"]
