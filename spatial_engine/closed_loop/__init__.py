"""A furnished room as an environment: a model sees photos, moves the camera, and stops where it believes the goal."""
