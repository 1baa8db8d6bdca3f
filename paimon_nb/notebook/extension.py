"""`%load_ext paimon_nb`: registers magics, completion and panels in IPython, and removes them on unload."""

from __future__ import annotations

import logging
from typing import Any


def load(ipython: Any) -> None:
    """Register magics, completion and the panels of tables."""
    from paimon_nb.notebook.complete import paimon_matcher
    from paimon_nb.notebook.magics.paimon import PaimonMagics
    from paimon_nb.notebook.views import install_views

    # pyspark 4.1 logs a stack of several kB for each SQL error before it raises.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    ipython.register_magics(PaimonMagics(shell=ipython))
    if paimon_matcher not in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.append(paimon_matcher)
    install_views()


def unload(ipython: Any) -> None:
    """Remove completion and close the session."""
    from paimon_nb.notebook.complete import paimon_matcher
    from paimon_nb.notebook.magics.active import current

    if paimon_matcher in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.remove(paimon_matcher)
    if current.workbench is not None:
        current.workbench.close()
        current.workbench = None
