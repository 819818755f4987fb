"""Objects that the user has detected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.options.checked import Checked, StrPath


@dataclass(frozen=True, kw_only=True)
class DetectionOptions(Checked):
    """The user's own detections of objects, which the expert "detections" reads (docs/detections.md)."""

    detections: Annotated[
        StrPath | None,
        Doc(
            "Boxes and masks of objects: a file, or a folder with a file per clip or per picture (COCO, labelme, YOLO, "
            "SAM, Grounding DINO). By default detections.json or VIDEO.json beside the footage."
        ),
    ] = None
    complete: Annotated[
        str | Sequence[str] | None,
        Doc("Names of which the detections list every object, such as chair,table; * for all. Else none is counted."),
    ] = None
