"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A property says what holds, not how long it takes: an example of 200 ms on a busy machine is no fault. What
# must be fast is measured by `tests/growth.py`.
settings.register_profile("kebab", settings(), deadline=None)
settings.load_profile("kebab")
