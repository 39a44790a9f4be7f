"""The list of what kebab is built on: pinned, installed as pinned, under licences that are allowed."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import PackageMetadata
from typing import cast

import pytest

from tests.supply import LOCK, PAGE, Pinned, bill, faults, installed, is_allowed, licence_of, listed, pinned

LOCKED = """a-package==1.0 \\
    --hash=sha256:{0}
    # via kebab (pyproject.toml)
b.Package==2.0 ; python_version < '3.14' \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
    # via
    #   a-package
    #   kebab (pyproject.toml)
""".format("0" * 64, "1" * 64)


def stating(**fields: str) -> PackageMetadata:
    message = Message()
    for name, value in fields.items():
        message[name.replace("_", "-")] = value
    return cast("PackageMetadata", message)


def test_a_lock_file_is_read_with_hashes_and_who_wants_what() -> None:
    first, second = pinned(LOCKED)

    assert first == Pinned("a-package", "1.0", ("0" * 64,), ("kebab",))
    assert second == Pinned("b-package", "2.0", ("0" * 64, "1" * 64), ("a-package", "kebab"))


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND AGPL-3.0", False),
        ("SSPL-1.0", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_where_one_alternative_is(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_a_package_is_told_of_that_is_unlisted_forbidden_changed_or_not_pinned_by_hash() -> None:
    packages = [Pinned("good", "1", ("0" * 64,), ()), Pinned("bad", "1", (), ())]
    present = {
        "good": stating(Version="2", License="MIT License"),
        "bad": stating(Version="1", License_Expression="AGPL-3.0-only"),
    }

    told = "\n".join(faults(packages, present, {"gone": "MIT"}))

    for fault in ("good 2 is installed, 1 is pinned", "good (MIT) is not in", "bad is not pinned by hash",
                  "bad is under AGPL-3.0-only", "gone is in docs/licences.md"):  # fmt: skip
        assert fault in told


def test_a_licence_is_read_from_classifiers_where_nothing_else_states_it() -> None:
    classifier = "License :: OSI Approved :: Apache Software License"
    assert licence_of("a", stating(Classifier=classifier)) == "Apache-2.0"
    assert (
        licence_of("a", stating(License="Copyright (c) somebody\nPermission", Classifier=classifier))
        == "Apache-2.0"
    )
    assert licence_of("nobody-knows", stating()) == ""


def test_everything_that_is_installed_here_is_listed_and_allowed() -> None:
    packages = pinned(LOCK.read_text(encoding="utf-8"))
    assert len(packages) > 100
    assert list(faults(packages, installed(), listed(PAGE.read_text(encoding="utf-8")))) == []


def test_the_bill_of_materials_names_every_package_and_who_needs_it() -> None:
    made = bill(pinned(LOCKED), {"a-package": "MIT", "b-package": "BSD"}, version="0.1.0", digest="x")

    components = made["components"]
    assert isinstance(components, list)
    assert [one["purl"] for one in components] == ["pkg:pypi/a-package@1.0", "pkg:pypi/b-package@2.0"]
    assert {"ref": "pkg:pypi/a-package@1.0", "dependsOn": ["pkg:pypi/b-package@2.0"]} in made["dependencies"]  # type: ignore[operator]
    assert made == bill(pinned(LOCKED), {"a-package": "MIT", "b-package": "BSD"}, version="0.1.0", digest="x")
