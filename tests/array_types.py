"""What tests check of our functions at run time: the types of arguments and results, and the shapes of arrays."""

from collections.abc import Callable, Iterator
from functools import cache, wraps
from inspect import isgeneratorfunction
from itertools import accumulate, chain, cycle, repeat
from threading import Event
from typing import Any, get_args

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, config

FIRST = 5
"""In each file of tests the first calls of a function are checked, and then one each time that there were half as many
again: rare calls are nearly all checked, and frequent ones cost little."""
EVERY_CALL = Event()
"""Set: all calls are checked, of functions that `count_again` finds."""

_UNCHECKED = [calls // 2 - 1 for calls in accumulate(range(60), lambda calls, _: calls + calls // 2, initial=FIRST)]
"""Numbers of calls between the later ones that are checked."""
_COUNTED: set[Callable[[], None]] = set()

_CHECK = beartype(conf=BeartypeConf(is_pep484_tower=True))
_jaxtyped = jaxtyping.jaxtyped


def checked(target: Any = None, **_: object) -> Any:
    """A function, or a dataclass, that checks its types and shapes when it is called.

    `jaxtyping.jaxtyped` does the same, but checks arguments twice and binds them by name: that took a third of all
    tests' time.
    """
    if isinstance(target, str):
        return _jaxtyped(target)  # a context
    if target is None:
        return checked
    if isinstance(target, type):
        if "__dataclass_fields__" in vars(target) and not hasattr(target.__init__, "__wrapped__"):
            target.__init__ = _checked(target.__init__)
        return target
    if isinstance(target, classmethod | staticmethod):
        return type(target)(_checked(target.__func__))
    if isinstance(target, property):
        return property(*(part and _checked(part) for part in (target.fget, target.fset, target.fdel)))
    return _checked(target)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    if isgeneratorfunction(function):  # whose context would end before it starts
        return _jaxtyped(function, typechecker=_CHECK)
    typed, is_checked = _later(function), _each_call()

    def with_shapes(*args: Any, **kwargs: Any) -> Any:
        with _jaxtyped("context"):  # one length for each name of an axis
            return typed(*args, **kwargs)

    check = with_shapes if any(map(_has_shape, function.__annotations__.values())) else typed

    @wraps(function)
    def sampled(*args: Any, **kwargs: Any) -> Any:
        if next(is_checked) and not config.jaxtyping_disable:
            _COUNTED.add(from_the_first)
            return check(*args, **kwargs)
        return function(*args, **kwargs)

    def from_the_first() -> None:
        nonlocal is_checked
        is_checked = _each_call()

    return sampled


def _each_call() -> Iterator[bool]:
    """Whether a call is checked. No generator: several threads may ask at once."""
    if EVERY_CALL.is_set():
        return repeat(True)
    runs = chain([FIRST], chain.from_iterable(zip(_UNCHECKED, repeat(1))))
    return chain.from_iterable(map(repeat, cycle([True, False]), runs))


def count_again() -> None:
    """The next call of each function is its first."""
    while _COUNTED:
        _COUNTED.pop()()


def _later(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under `beartype` from its first checked call on: many are never called, and names that its module
    defines below it are known by then. Hints of names that only type checkers import are left out."""

    @cache
    def typed() -> Callable[..., Any]:
        stated = function.__annotations__
        function.__annotations__ = {name: hint for name, hint in stated.items() if _is_known(hint, function)}
        try:
            return _CHECK(function)
        finally:
            function.__annotations__ = stated

    return lambda *args, **kwargs: typed()(*args, **kwargs)


def _is_known(hint: object, function: Callable[..., Any]) -> bool:
    try:
        return not isinstance(hint, str) or eval(hint, function.__globals__) is not None
    except NameError:
        return False


def _has_shape(hint: object) -> bool:
    """Whether a hint names an array's shape; a hint written as text may."""
    is_array = isinstance(hint, type) and issubclass(hint, AbstractArray)
    return is_array or isinstance(hint, str) or any(map(_has_shape, get_args(hint)))
