"""Kernels of the tests talk over socket files.

A TCP port is looked for before the kernel is started, and is free until the kernel binds it: with Spark drivers, servers and
other kernels starting beside it, another process may take it, and the kernel ends ("Kernel died before replying").
"""

import tempfile
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "nbval", False):
        import nbval.kernel

        nbval.kernel.KernelManager = kernel_manager


def kernel_manager(**traits: Any) -> Any:
    """A manager for one kernel, not started."""
    from jupyter_client.manager import KernelManager

    # Not in HOME: a socket file's path has at most 107 bytes.
    return KernelManager(transport="ipc", ip=tempfile.mkdtemp(prefix="kernel-") + "/s", **traits)
