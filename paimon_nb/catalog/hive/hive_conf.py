"""The metastore's connection settings: catalog options over the settings of hive-site.xml.

Source: Paimon `HiveCatalog.java` (createHiveConf).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

_SITE = "hive-site.xml"
URIS, WAREHOUSE = "hive.metastore.uris", "hive.metastore.warehouse.dir"


def hive_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Hive's settings: those of `hive-conf-dir` (or of the environment's HIVE_CONF_DIR), then the catalog's own `hive.*`.

    Raises:
        BadOptionValue: the configured hive-site.xml cannot be read.
    """
    catalog_options = TableOptions(options)
    folder = catalog_options.get(opt.HIVE_CONF_DIR) or os.environ.get("HIVE_CONF_DIR")
    settings = _read_properties(Path(folder) / _SITE) if folder else {}
    settings.update((k, v) for k, v in options.items() if k.startswith("hive."))
    if uri := catalog_options.get(opt.URI):
        settings[URIS] = uri
    return settings


def _read_properties(file: Path) -> dict[str, str]:
    try:
        properties = ElementTree.parse(file).getroot().iter("property")
    except (OSError, ElementTree.ParseError) as error:
        raise BadOptionValue(
            f"{file} cannot be read: {error}",
            hint=f"set 'hive-conf-dir' to the directory with {_SITE}",
            option=opt.HIVE_CONF_DIR.key,
        ) from None
    found = ((p.findtext("name", "").strip(), p.findtext("value", "").strip()) for p in properties)
    return {name: os.path.expandvars(value) for name, value in found if name}
