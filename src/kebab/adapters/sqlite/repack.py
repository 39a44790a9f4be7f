"""What the second schema does to rows of the first: texts packed, vectors made small, all of it sealed."""

from __future__ import annotations

import sqlite3

from kebab.adapters.sqlite import packed_texts, seals, texts, vector_blobs
from kebab.ports import ModelKey

_ROWS = 500


def repack(connection: sqlite3.Connection) -> None:
    """Convert everything that is stored, inside the migration's transaction. Nothing is embedded anew."""
    for (asset_id,) in connection.execute("SELECT asset_id FROM assets").fetchall():
        _repack_asset(connection, asset_id)
    for model in connection.execute(
        "SELECT id, model_id, version, dimensions FROM embedding_models"
    ).fetchall():
        _repack_vectors(connection, model[0], ModelKey(*model[1:]))
    for (doc_id,) in connection.execute("SELECT doc_id FROM documents").fetchall():
        sealed = seals.sealed_now(connection, doc_id, linked=False)
        connection.execute("UPDATE documents SET seal = ? WHERE doc_id = ?", (sealed, doc_id))


def _repack_asset(connection: sqlite3.Connection, asset_id: str) -> None:
    (content,) = connection.execute("SELECT text FROM assets WHERE asset_id = ?", (asset_id,)).fetchone()
    text = packed_texts.unpacked(content, asset_id)
    connection.execute("UPDATE assets SET text = ? WHERE asset_id = ?", (packed_texts.packed(text), asset_id))
    rows = connection.execute(
        "SELECT c.id, c.text FROM chunks c JOIN documents d USING (doc_id) WHERE d.asset_id = ?", (asset_id,)
    ).fetchall()
    places = texts.places([own for _, own in rows], text)
    connection.executemany(
        "UPDATE chunks SET text = ?, start = ?, length = ? WHERE id = ?",
        [(*place, row) for place, (row, _) in zip(places, rows, strict=True)],
    )


def _repack_vectors(connection: sqlite3.Connection, number: int, model: ModelKey) -> None:
    import numpy as np

    form, last = vector_blobs.form_of(model), 0
    connection.execute("UPDATE embedding_models SET form = ? WHERE id = ?", (form, number))
    query = "SELECT id, vector FROM embeddings WHERE model = ? AND id > ? ORDER BY id LIMIT ?"
    while rows := connection.execute(query, (number, last, _ROWS)).fetchall():
        last = rows[-1][0]
        whole = [(row, blob) for row, blob in rows if len(blob) == 4 * model.dimensions]
        vectors = np.frombuffer(b"".join(blob for _, blob in whole), dtype="<f4")
        blobs = vector_blobs.packed(vectors.reshape(len(whole), model.dimensions), form)
        connection.executemany(
            "UPDATE embeddings SET vector = ? WHERE id = ?",
            [(blob, row) for blob, (row, _) in zip(blobs, whole, strict=True)],
        )
