"""The rooms joined to the engines that the settings choose, a module for each room."""
