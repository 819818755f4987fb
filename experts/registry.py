"""Experts by name. Built-ins are listed here; others come through entry points of `spatial_engine.experts`."""

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from experts.expert import Expert


class UnknownNameError(LookupError):
    """No such name in a registry; the message lists the known ones."""


class Registry:
    """Names and where their objects live ("module:Class"), imported only when asked for.

    Third parties add names through entry points of `group`. Built-in names cannot be taken over, and a plug-in
    that cannot be imported is skipped with a warning that names it.
    """

    def __init__(self, group: str, builtin: Mapping[str, str]) -> None:
        self.group = group
        """Entry-point group ("spatial_engine.experts")."""
        self.builtin = dict(builtin)
        """Own names, in order of preference."""

    def targets(self) -> dict[str, str]:
        """Targets ("module:Class") by name: built-ins first, then plug-ins by name."""
        from importlib.metadata import entry_points

        plugins = sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value))
        taken = [point.name for point in plugins if point.name in self.builtin]
        if taken:
            warnings.warn(f"{self.group}: ignored plug-ins named like built-ins: {', '.join(taken)}", stacklevel=2)
        return self.builtin | {point.name: point.value for point in plugins if point.name not in self.builtin}

    def load(self, name: str) -> Any:
        """The object called `name`. Raises `UnknownNameError`, or ImportError where it cannot be imported."""
        targets = self.targets()
        if name not in targets:
            raise UnknownNameError(f"unknown name {name!r} in {self.group}; known: {', '.join(targets)}")
        module, _, attribute = targets[name].partition(":")
        try:
            return getattr(import_module(module), attribute)
        except AttributeError as error:
            raise ImportError(f"{self.group}: {name!r} points to {targets[name]}, which does not exist") from error

    def load_all(self) -> dict[str, Any]:
        """Every object by name, except plug-ins that cannot be loaded: those are warned about."""
        loaded = {}
        for name in self.targets():
            try:
                loaded[name] = self.load(name)
            except Exception as error:  # whatever a third party's module does at import
                if name in self.builtin:
                    raise
                warnings.warn(f"{self.group}: plug-in {name!r} cannot be loaded: {error}", stacklevel=2)
        return loaded


EXPERTS = Registry(
    "spatial_engine.experts",
    {
        "valid_area": "experts.valid_area:ValidAreaExpert",
        "klt": "experts.tracking.klt:KltExpert",
        "colmap": "experts.mapping.colmap:ColmapExpert",
        "track_geometry": "experts.tracking.track_geometry:TrackGeometryExpert",
        "sift": "experts.matching.sift_matches:SiftExpert",
        "reprojection": "experts.matching.reprojection:ReprojectionExpert",
        "vanishing_points": "experts.gravity.vanishing_points:VanishingPointsExpert",
        "straight_lines": "experts.gravity.straight_lines:StraightLinesExpert",
        "depth_anything_3": "experts.depth.depth_anything_3:DepthAnything3Expert",
        "geocalib": "experts.gravity.geocalib:GeoCalibExpert",
        "orient_anything": "experts.objects.orient_anything:OrientAnythingExpert",
        "tapir": "experts.tracking.tapir:TapirExpert",
        "cotracker": "experts.tracking.cotracker:CoTrackerExpert",
        "spatial_tracker": "experts.tracking.spatial_tracker:SpatialTrackerExpert",
        "cross_check": "experts.comparing.cross_check:CrossCheckExpert",
        "open_vocabulary": "experts.objects.open_vocabulary:OpenVocabularyExpert",
    },
)
"""All experts. The order is the planner's preference where several provide one signal."""


def create_expert(name: str) -> Expert:
    """A fresh expert with default settings; call `load` before use."""
    expert: Expert = EXPERTS.load(name)()
    return expert
