"""What a run is recorded in while it runs: a log, a status page, a profile."""
