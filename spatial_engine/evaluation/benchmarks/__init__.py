"""Other people's benchmarks, read from local copies into a data set of our own form, so that `evaluate` asks them."""
