"""Damages files: by bytes, and JSON by values. The same seed gives the same damage."""

import json
import random
from collections.abc import Callable
from typing import Any

_ODD = (
    None, True, -1, 0, 1e308, 10**30, float("nan"), float("inf"), "", "x", "../../secret", "\x00", "\u202e", "\ud800",
    [], {}, [[]], [None], {"": None}, "<script>alert(1)</script>", "9" * 5000, [0] * 50,
)  # fmt: skip


def damaged(content: bytes, seed: int) -> bytes:
    """The content with one to three kinds of damage."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 3)):
        content = rng.choice(_KINDS)(content, rng)
    return content


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content or b"x")
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _without_a_part(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.randrange(20) :]


def _repeated_part(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    part = content[start : start + rng.randrange(60)]
    return content[:start] + part * rng.choice((2, 3, 50)) + content[start:]


def _with_odd_bytes(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    odd = rng.choice(
        (b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 3000, b'{"a":' * 3000, b"nan", b"1e999", b"\n\n", b"-")
    )
    return content[:start] + odd + content[start:]


def _zeros(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + bytes(len(content) - start)


def _other_value(content: bytes, rng: random.Random) -> bytes:
    """JSON, or lines of it, with one value replaced, removed or renamed; other content is flipped."""
    lines = content.split(b"\n")
    at = rng.randrange(len(lines)) if lines[0].startswith(b"{") and lines[0].endswith(b"}") else None
    try:
        value = json.loads(content if at is None else lines[at])
    except (ValueError, RecursionError):
        return _flipped(content, rng)
    changed = json.dumps(_changed(value, rng)).encode()
    return changed if at is None else b"\n".join([*lines[:at], changed, *lines[at + 1 :]])


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with one odd part, more often a deep one."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.1:
            return {name: part for name, part in value.items() if name != key}
        if kind < 0.2:
            return {(f"{name}x" if name == key else name): part for name, part in value.items()}
        return value | {key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(_ODD)


_KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped, _cut, _without_a_part, _repeated_part, _with_odd_bytes, _zeros, _other_value, _other_value, _other_value,
)  # fmt: skip
