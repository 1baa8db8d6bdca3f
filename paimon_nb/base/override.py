"""`@override` marks a method whose parameters are those of the base class, even if it does not use all of them.

It is `typing.override`, which Python has since 3.12.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if sys.version_info >= (3, 12):
    from typing import override
elif TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method):
        return method


__all__ = ["override"]
