"""Camera paths as actions: paths into named motion and whole steps, such plans replayed and drawn."""
