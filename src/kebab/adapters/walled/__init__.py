"""Stores with walls: the same ports over a part of what another adapter holds.

Every room reads through a store, so what is outside the walls cannot be reached by any way of asking. Each
class lists what it lets through: a method that a port gains is missing here until somebody decides about it.
"""
