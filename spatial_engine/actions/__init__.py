"""Camera paths as actions: plans of named motion in whole steps, their replay, and plots."""
