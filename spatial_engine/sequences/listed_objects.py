"""The objects that a manifest lists in a JSON file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from action_mapping import PoseError
from action_mapping.rigid import known_poses
from experts.objects.box_orientation import UNKNOWN_FRONT, BoxFront
from spatial_engine.errors import UsageError
from spatial_engine.sequences import manifest
from spatial_engine.sequences.association import NONE, matched
from spatial_engine.sequences.known_objects import BOX_SIGMA, KnownObjects, KnownParts, read_mask
from spatial_engine.sequences.manifest import ListedObject, Match, matching


def read_objects(
    folder: Path, stated: manifest.Objects, images: Sequence[Path], static: bool | None = None
) -> KnownObjects:
    """As the manifest states. Raises `UsageError` that names the object and the key."""
    path = folder / stated.file
    listed = manifest.read_json_as(list[ListedObject], path)
    for place, one in enumerate(listed):
        _check(one, f"{path}: object {place + 1}")
    values = [place + 1 if one.mask is None else one.mask for place, one in enumerate(listed)]
    _check_values(values, f"{path}: masks of objects")
    shape = len(images), len(listed)
    visible = [_shares(one, len(images), f"{path}: object {place + 1}") for place, one in enumerate(listed)]
    poses = [_poses(one, len(images), f"{path}: object {place + 1}") for place, one in enumerate(listed)]
    nan = (np.nan, np.nan, np.nan)
    sigma = stated.sigma if stated.sigma is not None else 0.0 if stated.masks else BOX_SIGMA
    return KnownObjects(
        labels=tuple(one.label.strip() for one in listed),
        world_from_object=np.stack(poses, axis=1) if poses else np.zeros((*shape, 4, 4)),
        size=np.array([one.size or nan for one in listed], dtype=np.float64).reshape(-1, 3),
        sigma=sigma,
        angle_sigma_rad=float(np.radians(stated.angle_sigma_deg)),
        masks=_files(folder, stated.masks, images, stated.match, "masks"),
        of_value={value: place for place, value in enumerate(values)},
        fronts=tuple(_front(one, f"{path}: object {place + 1}") for place, one in enumerate(listed)),
        visible=np.stack(visible, axis=1) if visible else np.full(shape, np.nan),
        complete=("*",) if stated.complete is True else tuple(stated.complete or ()),
        others_stand_still=bool(stated.masks) if static is None else static,
        parts=_parts(folder, stated, listed, images),
    )


def no_objects(images: int) -> KnownObjects:
    """Of a scene without a list, in which nothing moves."""
    none = np.zeros((images, 0, 4, 4))
    return KnownObjects(labels=(), world_from_object=none, size=np.zeros((0, 3)), others_stand_still=True)


def _check(one: ListedObject, where: str) -> None:
    if not one.label.strip():
        raise UsageError(f"{where}: label: no name (given: {one.label!r})", 'name what it is: "chair"')
    if one.size is not None and not all(np.isfinite(side) and side > 0 for side in one.size):
        remedy = "three finite lengths above 0; leave size out where it is not known"
        raise UsageError(f"{where}: size: no lengths (given: {one.size})", remedy)


def _check_values(values: Sequence[int], what: str) -> None:
    """Each value stands for one; 0 for none."""
    if 0 in values or len(set(values)) < len(values):
        bad = next(value for value in values if value == 0 or values.count(value) > 1)
        raise UsageError(f"{what}: the value {bad} stands for {'nothing' if bad == 0 else 'several'}", "one value each")


def _front(one: ListedObject, where: str) -> BoxFront:
    fronts = one.fronts if one.fronts is not None else 1 if one.front else -1
    if fronts == -1:
        return UNKNOWN_FRONT
    try:
        return BoxFront(front=one.front, up=one.up, fronts=fronts)
    except ValueError as error:
        remedy = "front and up along two axes; fronts 1, 2 or 4 with a front, 0 without"
        raise UsageError(f"{where}: {error}", remedy) from error


def _poses(one: ListedObject, count: int, where: str) -> Float64[np.ndarray, "n 4 4"]:
    """Per image; NaN where the pose is not known."""
    stated: list[Any] = [None] * count if one.world_from_object is None else one.world_from_object
    if stated and isinstance(stated[0], list) and len(stated[0]) == 4 and not isinstance(stated[0][0], list):
        stated = [stated] * count
    if len(stated) != count:
        raise UsageError(
            f"{where}: world_from_object: {len(stated)} poses for {count} images", "one 4x4, or one per image"
        )
    none = np.full((4, 4), np.nan)
    none[3] = (0.0, 0.0, 0.0, 1.0)
    try:
        poses = np.stack([none if pose is None else np.array(pose, dtype=np.float64).reshape(4, 4) for pose in stated])
        known = known_poses(poses)
    except (PoseError, ValueError, TypeError) as error:
        remedy = "rotations of determinant 1, last row 0 0 0 1; null where a pose is not known"
        raise UsageError(f"{where}: world_from_object: {error}", remedy) from error
    return np.where(known[:, None, None], poses, np.nan)


def _shares(one: ListedObject, count: int, where: str) -> Float64[np.ndarray, "n"]:
    stated = one.visible if isinstance(one.visible, list) else [one.visible] * count
    shares = np.array([np.nan if share is None else share for share in stated], dtype=np.float64)
    if len(shares) != count or (shares < 0).any() or (shares > 1).any():
        raise UsageError(
            f"{where}: visible: {len(shares)} shares for {count} images, up to {np.nanmax(shares):g}",
            "one share from 0 to 1, or one per image",
        )
    return shares


def _parts(
    folder: Path, stated: manifest.Objects, listed: Sequence[ListedObject], images: Sequence[Path]
) -> KnownParts | None:
    own = [(place, part) for place, one in enumerate(listed) for part in one.parts]
    if bool(own) != bool(stated.part_masks):
        missing = "part_masks" if own else f"parts in {stated.file}"
        raise UsageError(f"objects: parts need a list and masks, and there are no {missing}", "state both, or neither")
    if not own:
        return None
    _check_values([part.mask for _, part in own], f"{folder / stated.file}: masks of parts")
    return KnownParts(
        names=tuple(part.name for _, part in own),
        object=tuple(place for place, _ in own),
        affords=tuple(part.affords for _, part in own),
        masks=_files(folder, stated.part_masks, images, stated.match, "masks of parts"),
        of_value={part.mask: p for p, (_, part) in enumerate(own)},
    )


def _files(folder: Path, pattern: str, images: Sequence[Path], match: Match, what: str) -> tuple[Path | None, ...]:
    """The file of each image; none without a pattern."""
    if not pattern:
        return ()
    files = matching(folder, pattern)
    if not files:
        raise UsageError(f"no file matches {pattern!r} in {folder}", f"correct the pattern of the {what}")
    read_mask(files[0])
    rows = matched(
        images, None, match=match, count=len(files), names=[file.name for file in files], times_s=None,
        tolerance_s=0.0, what=what,
    )  # fmt: skip
    return tuple(None if row == NONE else files[row] for row in rows)
