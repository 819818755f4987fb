"""Random facts about a clip, drawn from its pictures alone: the denominator of the yield.

Frames are random, pixels are corners of the picture. Whether a fact can be measured plays no part in the draw.
"""

import hashlib
import json

import numpy as np

from experts.clip import Clip
from templates.facts import Facts
from templates.scene.marks import inside, spread_frames
from templates.scene.pictures import MIN_DISTANCE, Pictures
from templates.template import Template

DRAWN = 24
"""Facts per template and clip."""
_PICTURES = 12
"""Pictures in which corners are detected, evenly spaced in time."""
_CORNERS = 400


def pictures_of(clip: Clip) -> Pictures:
    """Reads a few pictures and detects their corners (Shi and Tomasi 1994)."""
    import cv2

    width, height = clip.working_size
    distance = MIN_DISTANCE * float(np.hypot(width, height)) / 8
    found = {}
    for frame, grey in clip.read_grey(spread_frames(clip.frames, _PICTURES)):
        corners = cv2.goodFeaturesToTrack(grey, _CORNERS, 0.01, distance)
        xy = np.empty((0, 2)) if corners is None else corners.reshape(-1, 2).astype(np.float64)
        full = np.round(clip.full_from_working(xy), 1)
        full = full[inside(clip, full)]
        if len(full) >= 3:
            found[frame] = full
    return Pictures(clip=clip, corners=found)


def candidates(pictures: Pictures, template: Template, seed: int) -> Facts:
    """Up to `DRAWN` different facts of a template; none if the template draws none. The same clip and seed give the
    same facts."""
    digest = hashlib.sha256("\0".join([str(seed), pictures.clip.id, template.name, "candidates"]).encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
    drawn = (template.draw(pictures, rng) for _ in range(4 * DRAWN))
    distinct = {json.dumps(params, sort_keys=True): params for params in drawn if params is not None}
    return template.facts.from_json(list(distinct.values())[:DRAWN])
