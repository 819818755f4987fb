"""Dense depth with camera paths, by models; and what geometry says of it."""
