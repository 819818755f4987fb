"""Ctrl-C for children of tests."""

import signal


def heed_interrupts() -> None:
    """To be run in a child: what a shell starts in the background ignores SIGINT, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
