"""Engines behind the ports, one to a module or package. Only ``engines`` imports from here."""
