"""Level 4: who may do what in a warehouse: users and their privileges, kept in two tables beside the databases."""

from paimon_nb.catalog.privilege.catalog import PrivilegedCatalog, guarded
from paimon_nb.catalog.privilege.privilege import WHOLE_CATALOG, Privilege
from paimon_nb.catalog.privilege.privilege_store import Ledger

__all__ = ["WHOLE_CATALOG", "Ledger", "Privilege", "PrivilegedCatalog", "guarded"]
