"""The up direction and the focal length, from straight lines or a network."""
