"""L2/Understanding/Motion Understanding: is it the marked point that moves, the camera, both, or neither?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.measured import Measured
from templates.perception.allo_motion import MarkedTracks, PointMoves
from templates.question import FormatName
from templates.scene.camera_motion import camera_moved, ends_of
from templates.scene.point_motion import point_motion
from templates.scene.scene import Scene

_BOTH, _POINT, _CAMERA, _NEITHER = _LABELS = ("both", "point", "camera", "neither")


@dataclass(frozen=True, kw_only=True)
class WhatMoved(PointMoves):
    """What moves between the photos. Measures whether the marked point and whether the camera move."""

    name: str = "what_moved"
    version: str = "4"
    ability: str = "L2/Understanding/Motion Understanding"
    formats: tuple[FormatName, ...] = ("choice",)
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _LABELS}

    def measure(self, facts: MarkedTracks, scene: Scene) -> Measured:
        """One of four labels; the margin is the smaller one of the two."""
        point = point_motion(scene, facts.frames[:, 0], facts.points_px[:, 0], facts.frames, self.inside_px)
        camera = camera_moved(scene, ends_of(facts.frames))
        assert point.margin is not None and camera.margin is not None
        moves, films = point.label == "yes", camera.label == "yes"
        label = np.where(moves, np.where(films, _BOTH, _POINT), np.where(films, _CAMERA, _NEITHER))
        return Measured(
            why=np.where(point.why == "", camera.why, point.why),
            value=np.column_stack([point.value[:, 0], camera.value[:, 0]]),
            sigma=np.column_stack([point.sigma[:, 0], camera.sigma[:, 0]]),
            label=label,
            margin=np.fmin(point.margin, camera.margin),
            outlier_probability=point.outliers,
            evidence={**point.evidence, **camera.evidence},
        )
