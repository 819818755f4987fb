"""A share of the work, for one of several machines."""

import re
from dataclasses import dataclass
from hashlib import sha256

from spatial_engine.errors import UsageError

_WRITTEN = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, kw_only=True)
class Shard:
    """The share of one of `count` machines. Where a piece of work belongs depends on its name and on `count` alone, not
    on the other pieces: machines that start at different times never do one piece twice, and leave none out."""

    number: int = 1
    """From 1."""
    count: int = 1

    @classmethod
    def of(cls, text: str | None) -> "Shard":
        """The shard "2/8"; None: the whole. Raises `UsageError`."""
        if text is None:
            return cls()
        written = _WRITTEN.fullmatch(text)
        number, count = map(int, written.groups()) if written else (0, 0)
        if not 1 <= number <= count:
            raise UsageError(f"--shard {text}", "give number/count with numbers from 1, such as 2/8")
        return cls(number=number, count=count)

    def holds(self, name: str) -> bool:
        """Whether the piece of work of this name belongs to it."""
        return self.number == self.holding(name, self.count)

    @staticmethod
    def holding(name: str, count: int) -> int:
        """The number of the shard, of so many, to which the piece of work of this name belongs."""
        digest = sha256(name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % count + 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def file_name(self) -> str:
        """As a part of the name of a file."""
        return f"{self.number}-of-{self.count}"
