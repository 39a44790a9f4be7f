"""A connection to Ray that lasts as long as its context, and the one place that imports Ray."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kebab.errors import EngineUnavailable

LOCAL = "ray"
"""The address of a Ray that is started for the run, on this machine."""
_PORT = 10001
"""Where Ray's client server listens unless told otherwise."""
_SECONDS = 5.0
_STORE_BYTES = 256 << 20
"""What a local Ray may hold of work and answers; Ray's own default is a third of the memory."""


@dataclass(frozen=True, slots=True)
class Session:
    """Ray, while it is connected."""

    ray: Any
    free_cores: int
    failures: tuple[type[BaseException], ...]
    """What it raises when an actor, a node or the connection is gone."""


@contextmanager
def connected(address: str, *, cores: int = 0) -> Iterator[Session]:
    """A session on the cluster; ``cores`` is how many a local one gets, 0 for all.

    Raises EngineUnavailable where Ray is not installed, cannot be reached, or where this process already uses
    another cluster.
    """
    with _environment(address):
        ray = _imported()
        if ray.is_initialized():
            raise EngineUnavailable("this process is connected to a Ray cluster already")
        with _local(ray, cores) if address == LOCAL else _client(ray, address):
            yield Session(ray, int(ray.available_resources().get("CPU", 0)), _failures())


def _failures() -> tuple[type[BaseException], ...]:
    from ray.exceptions import RayError

    try:
        from grpc import RpcError
    except ImportError:
        return RayError, OSError
    return RayError, RpcError, OSError


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise EngineUnavailable(
            "the package ray is not installed", hint="pip install 'kebab[ray]'"
        ) from error
    # Below this, Ray tells of every step and of every actor that it loses, which is told here in other words.
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    return ray


@contextmanager
def _local(ray: Any, cores: int) -> Iterator[None]:
    folder = tempfile.mkdtemp(prefix="kebab-ray-")
    try:
        _start(ray, cores, folder)
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _start(ray: Any, cores: int, folder: str) -> None:
    try:
        with warnings.catch_warnings():
            # Ray's processes are other programs: nothing of Lance runs in a fork of this one.
            warnings.filterwarnings("ignore", message="lance is not fork-safe", category=UserWarning)
            ray.init(
                address="local",
                num_cpus=cores or None,
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                _temp_dir=folder,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise EngineUnavailable(f"Ray does not start on this machine: {_reason(error)}") from error


@contextmanager
def _client(ray: Any, address: str) -> Iterator[None]:
    place = urlsplit(address)
    try:
        # Ray itself would try for half a minute.
        socket.create_connection((place.hostname or "", place.port or _PORT), timeout=_SECONDS).close()
        ray.init(address)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise EngineUnavailable(
            f"{address} cannot be reached: {_reason(error)}",
            hint="it is the address of the cluster's client server, by default port 10001 of its head node",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


@contextmanager
def _environment(address: str) -> Iterator[None]:
    """What Ray can only be told by the environment, for as long as it is used.

    It counts its users over the network, and lets workers wait for everybody else, unless told not to. A Ray
    on this machine listens on the machine's own address: only who has the token of this run may use it.
    """
    wanted = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if address == LOCAL:
        wanted |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        wanted |= {"RAY_worker_niceness": "0"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
