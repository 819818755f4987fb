"""Published scores of other benchmarks, reproduced: each file names its paper or repository, quirks included.

Where a published rule can be exploited, `variant` chooses between what the paper says, what the repository computes,
and what should be counted ("strict").
"""
