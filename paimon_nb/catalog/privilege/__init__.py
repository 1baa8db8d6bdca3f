"""Level 4: access control of a warehouse: users and privileges, stored in two system tables."""

from paimon_nb.catalog.privilege.catalog import PrivilegedCatalog, with_access_control
from paimon_nb.catalog.privilege.privilege import WHOLE_CATALOG, Privilege
from paimon_nb.catalog.privilege.privilege_store import PrivilegeStore

__all__ = ["WHOLE_CATALOG", "PrivilegeStore", "Privilege", "PrivilegedCatalog", "with_access_control"]
