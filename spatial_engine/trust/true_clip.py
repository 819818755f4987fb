"""What is known of a clip: by a data set's sequence, or by a renderer."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from templates.scene import Scene


@runtime_checkable
class TrueClip(Protocol):
    """Ground truth of one clip."""

    @property
    def unsound(self) -> frozenset[int]:
        """Frames whose truth counts neither for nor against a label."""
        ...

    def scene(self, dense: Sequence[int] = ()) -> Scene:
        """The truth as a scene, with depth of the frames `dense`."""
        ...
