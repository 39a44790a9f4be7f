"""The execution memory of one data folder: a journal that is appended to, and a shelf that is read."""
