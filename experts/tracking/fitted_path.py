"""The camera path fitted to the point tracks, from which these give ranges: computed once, as every question about
learned or swept depth is held against it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.signals import CameraPath, NoEstimate, PathOnTracks, PointTracks, Signal, Signals
from experts.tracking.path_on_tracks import FitSettings, path_by_tracks

_FITTED = {"fitted_path": "camera_path", "fitted_path_check": "camera_path_check"}


@dataclass(frozen=True, kw_only=True)
class FittedPathSettings:
    """Those of the fit."""

    fit: FitSettings = field(default_factory=FitSettings)


class FittedPathExpert(WeightFreeExpert):
    """Expert "fitted_path": provides each translating camera path of a run as its tracks have it."""

    name: ClassVar[str] = "fitted_path"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset(_FITTED)
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "tracks"})
    may_use: ClassVar[frozenset[str]] = frozenset({"camera_path_check"})
    options: ClassVar[frozenset[str]] = frozenset()
    joins: ClassVar[bool] = True

    def __init__(self, settings: FittedPathSettings | None = None) -> None:
        self.settings = settings or FittedPathSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """Both paths; `NoEstimate` without tracks, for a camera that does not translate, and where the tracks
        contradict the path."""
        tracks = signals["tracks"]
        return {name: self._fitted(signals.get(path), tracks) for name, path in _FITTED.items()}

    def _fitted(self, path: Signal | NoEstimate | None, tracks: Signal | NoEstimate) -> PathOnTracks | NoEstimate:
        if not isinstance(path, CameraPath) or path.motion != "general":
            return NoEstimate(reason="no translating camera path")
        if not isinstance(tracks, PointTracks):
            return NoEstimate(reason="no tracks")
        fitted = path_by_tracks(tracks, path, self.settings.fit)
        if fitted is None:
            return NoEstimate(reason="tracks contradict the camera path")
        return PathOnTracks(
            frames=fitted.path.frames,
            world_from_cam=fitted.path.world_from_cam,
            intrinsics=fitted.path.intrinsics,
            residual_px=fitted.residual_px,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )
