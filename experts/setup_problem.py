"""Why an expert cannot be loaded here: one line of cause, one of remedy. It concerns the machine, not a clip."""


class SetupProblem(Exception):  # noqa: N818 - a state of the machine, not a fault of the program
    """A package, a weight file, a device or memory is missing, or a file is not the pinned one."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        """What is missing or wrong."""
        self.remedy = remedy
        """The exact command or flag that mends it."""

    def __str__(self) -> str:
        return f"{self.cause}; {self.remedy}"
