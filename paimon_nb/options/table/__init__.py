"""Every option of a table, by topic. Names and defaults are those of Paimon's option reference.

`from paimon_nb.options import table as opt` gives each as a constant: `opt.BUCKET`.
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option
from paimon_nb.options.table.blobs import *  # noqa: F403
from paimon_nb.options.table.commits import *  # noqa: F403
from paimon_nb.options.table.compaction import *  # noqa: F403
from paimon_nb.options.table.deprecated import *  # noqa: F403
from paimon_nb.options.table.files import *  # noqa: F403
from paimon_nb.options.table.iceberg import *  # noqa: F403
from paimon_nb.options.table.indexes import *  # noqa: F403
from paimon_nb.options.table.layout import *  # noqa: F403
from paimon_nb.options.table.lookup import *  # noqa: F403
from paimon_nb.options.table.manifests import *  # noqa: F403
from paimon_nb.options.table.merge import *  # noqa: F403
from paimon_nb.options.table.partitions import *  # noqa: F403
from paimon_nb.options.table.scan import *  # noqa: F403
from paimon_nb.options.table.table_types import *  # noqa: F403
from paimon_nb.options.table.write import *  # noqa: F403

TABLE_OPTIONS: Registry[Option[object]] = Registry(
    "table option",
    {o.key: o for o in sorted((o for o in globals().values() if isinstance(o, Option)), key=lambda o: o.key)},
)
