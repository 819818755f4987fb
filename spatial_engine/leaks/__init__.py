"""What can be answered without looking, and what stands on both sides of a split."""
