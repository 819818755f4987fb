"""The pose and opening of a gripper or hand that a manifest states."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from experts.provenance import Provenance
from experts.signals import EffectorPath, Scale
from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Effector, Poses
from spatial_engine.sequences.poses import read_rows


def read_effector(folder: Path, stated: Effector, images: int, scale: Scale, provenance: Provenance) -> EffectorPath:
    """The path of all images. Raises `UsageError`."""
    poses, _ = read_rows(folder / stated.file, Poses(form=stated.form, axes=stated.axes))
    opening = np.full(images, np.nan) if not stated.opening else read_numbers(folder / stated.opening)[:, 0]
    for name, rows in ((stated.file, poses), (stated.opening, opening)):
        if len(rows) != images:
            raise UsageError(f"effector: {name} has {len(rows)} rows for {images} images", "one row per image")
    if (opening < 0).any() or (opening > 1).any():
        raise UsageError(
            f"effector.opening: from {np.nanmin(opening):g} to {np.nanmax(opening):g}", "0: closed, 1: open"
        )
    return EffectorPath(
        frames=np.arange(images),
        base_from_view=poses,
        opening=opening,
        rotation_sigma_rad=np.full(images, np.radians(stated.rotation_sigma_deg)),
        position_sigma=np.full(images, stated.position_sigma),
        effector=stated.kind,
        scale=scale,
        provenance=provenance,
    )


def of_frames(path: EffectorPath, frames: Int64[np.ndarray, "n"]) -> EffectorPath:
    """The part of a clip."""
    names = ("base_from_view", "opening", "rotation_sigma_rad", "position_sigma")
    return replace(path, frames=frames, **{name: getattr(path, name)[frames] for name in names})
