"""Fuzz one target by what its inputs reach: ``python -m tests.faults.fuzz.run NAME CORPUS [OPTION…]``.

Options are libFuzzer's. It ends with a status other than 0 at the first input that a target chokes on, and
writes that input to the folder of ``-artifact_prefix``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import atheris


def main() -> None:
    name, corpus, *options = sys.argv[1:]
    warnings.simplefilter("ignore")  # the fuzzer's hooks change code that other packages warn about
    with atheris.instrument_imports(include=["kebab"], enable_loader_override=False):
        from tests.faults.fuzz.targets import TARGETS
    target = TARGETS[name]()
    for number, seed in enumerate(target.seeds):
        (Path(corpus) / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], corpus, *options], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
