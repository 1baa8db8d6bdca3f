// The answers of paimon_nb/notebook/catalog_comm.py.

export interface TreeNode {
  kind: string;
  path: string[];
  label: string;
  note: string;
  tip: string;
  expands: boolean;
  /** SQL text of the name. */
  insert: string;
  /** The name as one word of a %paimon command; "" if it is not one word. */
  command: string;
  mark: string;
  /** Of a tag. */
  snapshot: number | null;
}

export interface Children {
  nodes: TreeNode[];
  more: number;
  empty: string;
  current: string;
  warehouse: string;
}

/** What a search found. */
export interface Found {
  /** `table`: of a column. */
  matches: { node: TreeNode; table: TreeNode | null }[];
  more: number;
  tables: number;
  unread: number;
}

export interface TableFacts {
  path: string[];
  note: string;
  tip: string;
  health: "ok" | "slow" | "broken" | "empty" | "unknown";
  key: string;
}

export interface Facts {
  facts: TableFacts[];
  left: number;
}

/** A MIME bundle of an output. */
export interface Bundle {
  data: Record<string, never>;
  metadata: Record<string, never>;
}

export interface OfferedSnapshot {
  id: number;
  /** "" for an entry of the snapshot itself. */
  tag: string;
  kind: string;
}

export interface Snapshots {
  snapshots: OfferedSnapshot[];
}

/** Sent without a request: the catalogs are others, though no cell has run. */
export interface CatalogEvent {
  event: "catalog";
}

/** Sent without a request: the user chose a snapshot in the panel of a tab. */
export interface SnapshotEvent {
  event: "snapshot";
  tab: string;
  /** null: the latest. */
  snapshot: number | null;
}
