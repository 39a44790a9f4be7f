"""Files on disk: our own, private and never opened through a link, and those whose names people give."""
