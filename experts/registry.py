"""Experts by name. Built-in experts are listed here. Others register through entry points of
`spatial_engine.experts`."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint


class UnknownNameError(LookupError):
    """A registry has no such name. The message lists the known names."""


class PluginWarning(UserWarning):
    """A plug-in is left out; the message names its package and class, and what is wrong."""


class Registry:
    """Maps names to import targets ("module:Class") and imports them on demand.

    Third parties add names through entry points of `group`. They cannot replace a built-in name. A plug-in that cannot
    be imported is skipped with a warning that names it.
    """

    def __init__(self, group: str, builtin: Mapping[str, str]) -> None:
        self.group = group
        """Entry-point group ("spatial_engine.experts")."""
        self.builtin = dict(builtin)
        """Built-in names, in order of preference."""

    def targets(self) -> dict[str, str]:
        """Import targets ("module:Class") by name: built-ins first, then plug-ins in alphabetical order."""
        plugins = self._plugins()
        if taken := [name for name in plugins if name in self.builtin]:
            message = f"{self.group}: ignored plug-ins named like built-ins: {', '.join(taken)}"
            warnings.warn(message, PluginWarning, stacklevel=2)
        return self.builtin | {name: point.value for name, point in plugins.items() if name not in self.builtin}

    def package(self, name: str) -> str:
        """The package that registers a plug-in; "" for a built-in name."""
        point = None if name in self.builtin else self._plugins().get(name)
        return "" if point is None else getattr(point.dist, "name", point.module.partition(".")[0])

    def distribution_of(self, plugin: type) -> "Distribution | None":
        """The installed package that registers a class, or another part of its top-level module; None if none does."""
        top = plugin.__module__.partition(".")[0]
        return next((p.dist for p in self._plugins().values() if p.module.partition(".")[0] == top), None)

    def _plugins(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points

        points = sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value))
        return {point.name: point for point in points}

    def load(self, name: str) -> Any:
        """Imports the object called `name`. Raises `UnknownNameError`, or ImportError if the import fails."""
        targets = self.builtin if name in self.builtin else self.targets()
        if name not in targets:
            raise UnknownNameError(f"unknown name {name!r} in {self.group}; known: {', '.join(targets)}")
        return self._imported(name, targets[name])

    def _imported(self, name: str, target: str) -> Any:
        module, _, attribute = target.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except AttributeError as error:
            raise ImportError(f"{self.group}: {name!r} points to {target}, which does not exist") from error

    def load_all(self, make: Callable[[Any], Any] = lambda loaded: loaded) -> dict[str, Any]:
        """What `make` makes of every object. A plug-in that cannot be imported or made is skipped with a
        `PluginWarning`."""
        loaded = {}
        for name, target in self.targets().items():
            try:
                loaded[name] = make(self._imported(name, target))
            except Exception as error:  # a third party's module may raise anything at import
                if name in self.builtin:
                    raise
                where = f"{self.group}: plug-in {name!r} of the package {self.package(name)} ({target})"
                message = f"{where} is left out: {type(error).__name__}: {error}"
                warnings.warn(" ".join(message.split()), PluginWarning, stacklevel=2)
        return loaded


EXPERTS = Registry(
    "spatial_engine.experts",
    {
        "valid_area": "experts.valid_area:ValidAreaExpert",
        "klt": "experts.tracking.klt:KltExpert",
        "colmap": "experts.mapping.colmap:ColmapExpert",
        "zoom": "experts.mapping.zooming:ZoomExpert",
        "track_geometry": "experts.tracking.track_geometry:TrackGeometryExpert",
        "fitted_path": "experts.tracking.fitted_path:FittedPathExpert",
        "plane_sweep": "experts.depth.plane_sweep:PlaneSweepExpert",
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
        "detections": "experts.detections.detections_expert:DetectionsExpert",
        "room": "experts.rooms.room:RoomExpert",
        "open_vocabulary": "experts.objects.open_vocabulary:OpenVocabularyExpert",
    },
)
"""All experts. Where several provide one signal, the planner prefers the earlier one."""
