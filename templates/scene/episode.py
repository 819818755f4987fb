"""A clip in which a person or a robot does something."""

from dataclasses import dataclass

from experts.signals import EffectorPath, Task
from templates.scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Episode(Scene):
    """A scene with the path of a gripper or hand, a task in words, or both. Built by `scenes_of`."""

    @property
    def effector(self) -> EffectorPath | None:
        """Pose and opening of gripper or hand, if they are known."""
        return self._signal("effector_path", EffectorPath)

    @property
    def task(self) -> Task | None:
        """Instruction, steps and success, if they are known."""
        return self._signal("task", Task)


def effector_of(scene: Scene) -> EffectorPath | None:
    """The effector of an episode; None of any other scene."""
    return scene.effector if isinstance(scene, Episode) else None


def task_of(scene: Scene) -> Task | None:
    """The task of an episode; None of any other scene."""
    return scene.task if isinstance(scene, Episode) else None
