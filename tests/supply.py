"""What kebab is built on: every package of the lock file, its licence, and the bill of materials.

``python -m tests.supply check`` fails where a package is not pinned by hash, not installed as pinned, not in
the table of docs/licences.md, or under a licence that is not allowed; ``licences`` writes that table anew;
``sbom FILE`` writes a CycloneDX document. Nothing is fetched: packages state their licence themselves.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path

from packaging.version import Version

PROJECT = Path(__file__).parents[1]
LOCK = PROJECT / "requirements.lock"
PAGE = PROJECT / "docs" / "licences.md"
BEGIN, END = "<!-- packages: written by python -m tests.supply licences -->", "<!-- packages: end -->"

ALLOWED = frozenset(
    {
        "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-0",
        "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib",
    }
)  # fmt: skip
"""Free to use and pass on together with kebab. MPL-2.0 asks for its own files' changes only."""

KNOWN_AS = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "BSD 2-Clause License": "BSD-2-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "MIT, BSD": "MIT AND BSD",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
}
STATED = {"atheris": "Apache-2.0", "py-rust-stemmers": "MIT", "pyromark": "MIT"}
"""Where the metadata is silent: what the licence file of the project says."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A package of the lock file, with the packages that ask for it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    wanted_by: tuple[str, ...]


def pinned(text: str) -> list[Pinned]:
    """The packages of a lock file, in its order."""
    found = []
    for part in re.split(r"(?m)^(?=[A-Za-z0-9])", text):
        head = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", part)
        if head:
            hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", part))
            comments = " ".join(re.findall(r"(?m)^\s+#(.*)$", part)).replace("via", " ")
            found.append(Pinned(canonical(head[1]), head[2], hashes, tuple(_names(comments))))
    return found


def _names(comments: str) -> Iterator[str]:
    for word in comments.split():
        if not word.startswith("("):
            yield canonical(word.partition("[")[0])


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, PackageMetadata]:
    return {canonical(found.metadata["Name"]): found.metadata for found in distributions()}


def licence_of(name: str, metadata: PackageMetadata) -> str:
    """What a package states, as an SPDX expression where it can be one; empty where it states nothing."""
    if expression := metadata.get_all("License-Expression"):
        return str(expression[0])
    stated = "".join(metadata.get_all("License") or []).strip()
    if stated and "\n" not in stated and len(stated) < 60:
        return KNOWN_AS.get(stated, stated)
    classified = [
        line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier") or [] if "License ::" in line
    ]
    names = [KNOWN_AS.get(one, one) for one in classified if one != "OSI Approved"]
    return " AND ".join(names) or STATED.get(name, "")


def is_allowed(expression: str) -> bool:
    """Whether one of the alternatives asks for nothing but what is allowed."""
    alternatives = re.split(r"\s+OR\s+", expression.replace("(", "").replace(")", ""))
    return any(all(part in ALLOWED for part in re.split(r"\s+AND\s+", one)) for one in alternatives)


def listed(page: str) -> dict[str, str]:
    """The packages of the table with their licences."""
    inside = page.partition(BEGIN)[2].partition(END)[0]
    rows = re.findall(r"(?m)^\| ([a-z0-9-]+) \| (.+) \|$", inside)
    return dict(rows[1:])


def faults(
    packages: list[Pinned], present: Mapping[str, PackageMetadata], table: Mapping[str, str]
) -> Iterator[str]:
    """What is wrong, a line each; packages that are for other systems are only looked up in the table."""
    for package in packages:
        metadata = present.get(package.name)
        licence = licence_of(package.name, metadata) if metadata else table.get(package.name, "")
        if not package.hashes:
            yield f"{package.name} is not pinned by hash"
        if metadata and Version(metadata["Version"]) != Version(package.version):
            yield f"{package.name} {metadata['Version']} is installed, {package.version} is pinned"
        if not is_allowed(licence):
            yield f"{package.name} is under {licence or 'no licence that it states'}, which is not allowed"
        if table.get(package.name) != licence:
            yield f"{package.name} ({licence}) is not in docs/licences.md; see python -m tests.supply"
    yield from (f"{name} is in docs/licences.md and not in requirements.lock"
                for name in sorted(set(table) - {package.name for package in packages}))  # fmt: skip


def table(packages: list[Pinned], present: Mapping[str, PackageMetadata], old: Mapping[str, str]) -> str:
    rows = ["| package | licence |", "|---|---|"]
    for package in sorted(packages, key=lambda package: package.name):
        metadata = present.get(package.name)
        licence = licence_of(package.name, metadata) if metadata else old.get(package.name, "")
        rows.append(f"| {package.name} | {licence} |")
    return "\n".join(rows)


def bill(packages: list[Pinned], table: Mapping[str, str], *, version: str, digest: str) -> dict[str, object]:
    """The CycloneDX document; the same lock file gives the same one."""
    own = f"pkg:pypi/kebab@{version}"
    wanted: dict[str, list[str]] = {own: []}
    for package in packages:
        wanted.setdefault(_purl(package), [])
    known = {package.name: _purl(package) for package in packages}
    for package in packages:
        for name in package.wanted_by:
            wanted[known.get(name, own)].append(_purl(package))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": "kebab", "version": version, "purl": own,
                "licenses": [{"expression": "MIT AND CC-BY-SA-4.0"}],
            }
        },
        "components": [_component(package, table.get(package.name, "")) for package in packages],
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(on))} for ref, on in sorted(wanted.items())],
    }  # fmt: skip


def _purl(package: Pinned) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


def _component(package: Pinned, licence: str) -> dict[str, object]:
    spdx = licence and "BSD" not in re.split(r"\s+(?:AND|OR)\s+", licence)
    return {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package.name,
        "version": package.version,
        "purl": _purl(package),
        "licenses": [{"expression": licence}] if spdx else [{"license": {"name": licence or "unknown"}}],
        "properties": [{"name": "kebab:lock:sha256", "value": digest} for digest in package.hashes],
    }


def main(task: str, target: str = "") -> int:
    packages, page = pinned(LOCK.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    if task == "check":
        found = list(faults(packages, installed(), listed(page)))
        sys.stderr.writelines(f"{fault}\n" for fault in found)
        return 1 if found else 0
    if task == "licences":
        head, _, rest = page.partition(BEGIN)
        rows = table(packages, installed(), listed(page))
        PAGE.write_text(f"{head}{BEGIN}\n{rows}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
        return 0
    own = re.search(r'(?m)^version = "(.+)"$', (PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert own
    made = bill(packages, listed(page), version=own[1], digest=LOCK.read_text(encoding="utf-8"))
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
