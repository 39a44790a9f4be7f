"""``python -m kebab`` is the command line."""

from __future__ import annotations

from kebab.cli import main

if __name__ == "__main__":
    main()
