"""Labels held against ground truth: verdicts, rates with their bounds, coverage of σ, yield."""
