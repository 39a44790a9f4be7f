"""What onnxruntime raises."""

from __future__ import annotations


def onnx_errors() -> tuple[type[Exception], ...]:
    """Everything a session may raise: onnxruntime's own exceptions share no public base class."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = (getattr(state, name) for name in dir(state))
    own = (item for item in found if isinstance(item, type) and issubclass(item, Exception))
    return (OSError, RuntimeError, ValueError, *own)
