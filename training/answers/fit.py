"""Fit the weights of gate and selection on many folders, and show how they do on a folder left out.

``python -m training.answers.fit --write src/kebab/answer/weights.json FILE…`` reads question files (the form
is in docs/quality.md; each names its folder), asks every question once, and fits. Before the weights are
written, each folder is left out in turn: the table says how well weights that never saw it refuse there.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kebab import Kebab
from kebab.answer.gate import GateWeights
from kebab.answer.measured import FEATURES
from kebab.answer.weights import Fitted, fitted, load_weights, to_json
from kebab.config.sections import Gate as GateSettings
from kebab.evaluate.fit import Example, fit_gate, fit_selection

NEAR_SELECTION, NEAR_GATE = 0.02, 0.005
"""How strongly new weights are held to given ones."""

GateFit = tuple[float, dict[str, float], dict[str, float]]


def fit(
    examples: Sequence[Example], near: Fitted | None, *, gate_alone: bool = False
) -> tuple[dict[str, float], GateFit]:
    """Weights of the selection and of the gate, held near the given ones where there are some.

    With ``gate_alone`` the given selection stays as it is, and the gate is fitted anew.
    """
    if gate_alone and near is not None:
        return dict(near.selection), fit_gate(examples)
    if near is None:
        return fit_selection(examples), fit_gate(examples)
    selection = fit_selection(examples, near=near.selection, pull=NEAR_SELECTION)
    return selection, fit_gate(examples, near=near.gate_weights, pull=NEAR_GATE)


def left_out(examples: Sequence[Example], threshold: float, near: Fitted | None, *, gate_alone: bool) -> None:
    """Print, for each folder, what weights fitted on the others make of it."""
    print("| folder left out | questions | refusal P | R | F1 | first passage holds the fact |")
    print("|---|---|---|---|---|---|")
    for folder in dict.fromkeys(e.folder for e in examples):
        others = [e for e in examples if e.folder != folder]
        here = [e for e in examples if e.folder == folder and e.gate is not None]
        selection, fitted_gate = fit(others, near, gate_alone=gate_alone)
        gate = GateWeights(*fitted_gate)
        refused = [e for e in here if e.gate and gate.probability(e.gate) < threshold]
        right = sum(not e.answerable for e in refused)
        precision = right / len(refused) if refused else 0.0
        recall = right / max(1, sum(not e.answerable for e in here))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        known = [e for e in here if e.answerable and any(e.holds)]
        first = sum(best(e, selection) for e in known) / max(1, len(known))
        print(f"| {folder} | {len(here)} | {precision:.2f} | {recall:.2f} | {f1:.2f} | {first:.2f} |")


def best(example: Example, selection: dict[str, float]) -> bool:
    """Whether the passage of most worth holds the fact."""
    worth = [
        math.fsum(selection[name] * value for name, value in zip(FEATURES, values, strict=True))
        for values in example.passages
    ]
    return example.holds[worth.index(max(worth))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--near", type=Path, help="weights that the new ones are held near")
    parser.add_argument(
        "--gate-alone", action="store_true", help="keep the selection of --near and fit the gate"
    )
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="kebab-fit-") as folder:
        config = Path(folder) / "config.toml"
        config.write_text("", encoding="utf-8")
        with Kebab.open(config, root=Path(folder), data_dir=Path(folder) / "data") as base:
            examples = base.laboratory.examples(arguments.files)
    near = load_weights(arguments.near) if arguments.near else None
    alone = arguments.gate_alone
    left_out(examples, GateSettings().threshold, near, gate_alone=alone)
    selection, (bias, gate, means) = fit(examples, near, gate_alone=alone)
    weights = fitted(selection=selection, bias=bias, gate=gate, means=means)
    arguments.write.write_bytes(to_json(weights))


if __name__ == "__main__":
    main()
