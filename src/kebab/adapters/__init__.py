"""Engines behind the ports, one to a module or package. Only app.py imports from here."""
