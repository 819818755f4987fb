"""Scenes with exact truth: textured boxes and round bodies in a room, ray-cast in numpy."""

from spatial_engine.rendering.clips import as_clip, write_video
from spatial_engine.rendering.demo_room import demo_scene
from spatial_engine.rendering.scene import Effects, RenderedScene
from spatial_engine.rendering.truth import true_signals

__all__ = ["Effects", "RenderedScene", "as_clip", "demo_scene", "true_signals", "write_video"]
