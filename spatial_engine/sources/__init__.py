"""The user's footage: what lies on the disk, opened as clips, and written down so that clips open again.

In: files, folders and the user's options. Out: `experts.clip.Clip`s.
"""

from spatial_engine.sources.finding import find_footage
from spatial_engine.sources.footage import ClipError, Footage, Found, ImageFolder, Skipped, VideoFile
from spatial_engine.sources.opening import Cache, Opened, open_clips, open_footage, open_photo
from spatial_engine.sources.record import clip_from_json, clip_to_json

__all__ = [
    "Cache",
    "ClipError",
    "Footage",
    "Found",
    "ImageFolder",
    "Opened",
    "Skipped",
    "VideoFile",
    "clip_from_json",
    "clip_to_json",
    "find_footage",
    "open_clips",
    "open_footage",
    "open_photo",
]
