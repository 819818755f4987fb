"""Responses made to cost time."""

SIZE = 100_000
"""Characters: a quadratic reader would take hours."""
HOSTILE = {
    "nothing": "",
    "digits": "1" * SIZE,
    "signs": "-" * SIZE,
    "blanks": "A" + " " * SIZE + "x",
    "blanks after a phrase": "the answer is" + " " * SIZE + "x",
    "stars": "*" * SIZE + "x",
    "a letter and stars": "A" + "*" * SIZE + "x",
    "brackets": "[" * SIZE,
    "brackets and back": "[" * SIZE + "]" * SIZE,
    "open tags": "<answer>" * (SIZE // 8),
    "open tags with letters": "<answer>A" * (SIZE // 9),
    "tags without an end": "<answer" * (SIZE // 7) + ">",
    "numbers in open tags": "<answer>1 2 " * (SIZE // 12),
    "thoughts": "<think></think>" * (SIZE // 15),
    "lines": "A\n" * (SIZE // 2),
    "letters": "A B " * (SIZE // 4),
    "words": "hundred thousand " * (SIZE // 17),
    "statements": "Answer: " * (SIZE // 8) + "closer to completion: ",
    "braces": '{"a":' * (SIZE // 5),
    "dots": "." * SIZE,
    "binary": bytes(range(256)).decode("latin-1") * (SIZE // 256),
    "lone surrogates": "\ud800" * 1000,
    "zeros": "\0" * SIZE,
}
