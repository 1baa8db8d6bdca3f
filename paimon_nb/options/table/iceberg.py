"""Iceberg metadata beside the table, which Iceberg readers open. Source: Paimon 2.1 `IcebergOptions`."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, integer, text

METADATA_ICEBERG_STORAGE = choice(
    "metadata.iceberg.storage",
    "disabled",
    "disabled table-location hadoop-catalog hive-catalog rest-catalog",
    "write Iceberg metadata after each commit, in the table's directory or as a Hadoop catalog, also registered in Hive or a REST catalog",
)
METADATA_ICEBERG_STORAGE_LOCATION = choice(
    "metadata.iceberg.storage-location",
    None,
    "table-location catalog-location",
    "directory of the Iceberg metadata; default: that of 'metadata.iceberg.storage'",
)
METADATA_ICEBERG_FORMAT_VERSION = integer(
    "metadata.iceberg.format-version",
    2,
    "version of the Iceberg metadata, 2 or 3; deletion vectors need 3",
    check=lambda v: None if v in (2, 3) else "it is 2 or 3",
)
METADATA_ICEBERG_COMPACTION_MIN_FILE_NUM = integer(
    "metadata.iceberg.compaction.min.file-num", 10, "least number of small Iceberg manifests that are merged"
)
METADATA_ICEBERG_COMPACTION_MAX_FILE_NUM = integer(
    "metadata.iceberg.compaction.max.file-num", 50, "number of small Iceberg manifests that are merged at any size"
)
METADATA_ICEBERG_DELETE_AFTER_COMMIT_ENABLED = boolean(
    "metadata.iceberg.delete-after-commit.enabled", True, "delete older Iceberg metadata files after a commit"
)
METADATA_ICEBERG_PREVIOUS_VERSIONS_MAX = integer(
    "metadata.iceberg.previous-versions-max", 0, "older Iceberg metadata files to keep", check=at_least(0)
)
METADATA_ICEBERG_MANIFEST_COMPRESSION = text(
    "metadata.iceberg.manifest-compression", "snappy", "codec of Iceberg manifests and manifest lists"
)
METADATA_ICEBERG_MANIFEST_LEGACY_VERSION = boolean(
    "metadata.iceberg.manifest-legacy-version", False, "names of Iceberg 1.4 in manifest lists, for older readers"
)

# -- registration in a Hive metastore or a REST catalog

METADATA_ICEBERG_DATABASE = text(
    "metadata.iceberg.database", None, "database in the catalog of Iceberg; several of Hive are separated by ';'"
)
METADATA_ICEBERG_TABLE = text(
    "metadata.iceberg.table", None, "table in the catalog of Iceberg; default: this table's name"
)
METADATA_ICEBERG_URI = text(
    "metadata.iceberg.uri", None, "address of the Hive metastore; default: that of the table's catalog"
)
METADATA_ICEBERG_HIVE_CONF_DIR = text("metadata.iceberg.hive-conf-dir", None, "directory of hive-site.xml")
METADATA_ICEBERG_HADOOP_CONF_DIR = text(
    "metadata.iceberg.hadoop-conf-dir", None, "directory of core-site.xml; used by Java only"
)
METADATA_ICEBERG_HIVE_CLIENT_CLASS = text(
    "metadata.iceberg.hive-client-class",
    "org.apache.hadoop.hive.metastore.HiveMetaStoreClient",
    "client of the Hive metastore; used by Java only",
)
METADATA_ICEBERG_HIVE_SKIP_UPDATE_STATS = boolean(
    "metadata.iceberg.hive-skip-update-stats", False, "leave Hive's statistics as they are"
)
METADATA_ICEBERG_GLUE_SKIP_ARCHIVE = boolean(
    "metadata.iceberg.glue.skip-archive", False, "keep no older versions in Glue"
)
