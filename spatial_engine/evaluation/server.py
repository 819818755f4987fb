"""Where a model is asked, and how patiently."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from spatial_engine.errors import UsageError

_SUCH = "a URL such as http://127.0.0.1:8000/v1"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A chat server that speaks OpenAI's protocol. Nothing here changes an answer. Raises `UsageError`."""

    base_url: str = ""
    """ "http://127.0.0.1:8000/v1": what stands before `/chat/completions`. "" where nothing is asked (a replay)."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key. A server that wants none gets a placeholder."""
    concurrency: int = 8
    """Requests under way at once."""
    requests_per_minute: float | None = None
    """Attempts, retries included; None: no limit of ours."""
    timeout_s: float = 120.0
    """For one attempt, from the request to the last byte of the reply."""
    max_retries: int = 6
    """After 429, 5xx, cut connections and replies that are no JSON; the pause doubles, or is what the server says."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if self.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise UsageError(f"--base-url {self.base_url!r}", f"give {_SUCH}")
        if self.concurrency < 1 or self.max_retries < 0:
            raise UsageError(
                f"concurrency {self.concurrency}, retries {self.max_retries}",
                "allow one request, and no retry, at least",
            )
        if self.timeout_s <= 0 or (self.requests_per_minute is not None and self.requests_per_minute <= 0):
            raise UsageError("time-outs and rates are positive", "leave the option out for the default")

    def check_address(self) -> None:
        """Raises `UsageError` if there is none to ask at."""
        if not self.base_url:
            raise UsageError("no server is named", f"--base-url takes {_SUCH}; --replay with --cache needs none")
