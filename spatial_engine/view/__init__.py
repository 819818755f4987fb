"""The signals of a clip in 3-D, as a recording for the Rerun viewer (https://rerun.io)."""

from spatial_engine.view.viewing import view

__all__ = ["view"]
