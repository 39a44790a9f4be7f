"""Engines that read files, one to a module."""
