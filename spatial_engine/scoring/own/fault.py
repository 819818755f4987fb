"""A question that cannot be scored."""

from collections.abc import Iterator
from contextlib import contextmanager


class Fault(Exception):  # noqa: N818 - the message is a counted reason
    """A question's own fields do not allow a score."""


@contextmanager
def fault_if_unfit(reason: str) -> Iterator[None]:
    """Fields that are absent or of another shape than their format's become a `Fault` for that reason."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise Fault(reason) from error
