"""What a page is made of, and what a browser makes of it."""

import shutil
import subprocess
from html.parser import HTMLParser

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
    "--virtual-time-budget=4000",
]
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)")


class Links(HTMLParser):
    """Everything that a page would load or lead to, and the tags it is made of."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.found += [value for name, value in attrs if name in ("href", "src")]


def opened(page, profile, *flags):
    """The page's DOM after its scripts ran, and what the console said."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, "--dump-dom", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def when_drawn(page, script):
    """Adds a script to the page that runs once its cards are drawn."""
    added = f"<script>setTimeout(() => {{ {script} }}, 1000)</script></body>"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", added), encoding="utf-8")
