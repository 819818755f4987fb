"""Other people's benchmarks, read from local copies into a dataset of our own form, so that `evaluate` asks them."""
