"""The terminal screen: parse, call, print. ``app`` is the screen, ``lines`` what is drawn on it."""
