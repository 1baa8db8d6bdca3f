// The loaded part of a kernel's catalog tree: what is open, what is selected, what the filter shows.
import { Signal, type ISignal } from "@lumino/signaling";
import { CatalogError, type KernelCatalog } from "./kernel";
import type { Children, Facts, Found, TableFacts, TreeNode } from "./protocol";

/** A shorter text is only compared with the names that are loaded. */
const LEAST_SEARCHED = 2;
/** Tables of one request for facts. */
const FACTS_AT_ONCE = 20;

export interface Line {
  node: TreeNode;
  key: string;
  level: number;
  parent: Line | null;
  /** null: not loaded. */
  children: Line[] | null;
  more: number;
  empty: string;
  loading: boolean;
  /** The number of its last load. */
  load: number;
  error: string;
  facts: TableFacts | null;
  /** The refresh that `facts` belongs to. */
  factsOf: number;
}

/** A row that is drawn: a line, or a remark below one ("more", an error, "no tables yet"). */
export interface Row {
  line: Line;
  level: number;
  open: boolean;
  remark: "" | "more" | "error" | "empty";
  text: string;
  position: number;
  size: number;
}

const RESULTS: TreeNode = { kind: "found", path: [], label: "In all catalogs", note: "", tip: "names of databases, tables, views and columns", expands: true, insert: "", command: "", mark: "", snapshot: null };
const ROOT: TreeNode = { kind: "root", path: [], label: "", note: "", tip: "", expands: true, insert: "", command: "", mark: "", snapshot: null };

/** What a search found, below one line. A column has its table as its parent. */
function resultsOf(found: Found | null): Line {
  const top = lineOf(RESULTS, null), more = found?.more ?? 0;
  const note = found ? `${(found.matches.length + more).toLocaleString("en-US")} found` : "searching …";
  const unread = found?.unread ? `columns of ${found.unread.toLocaleString("en-US")} tables were not read: the time was too short` : "";
  const lines = (found?.matches ?? []).map(({ node, table }) => {
    const of = table && lineOf(table, top), line = lineOf({ ...node, expands: false }, of ?? top);
    return { ...line, level: 2, key: `found ${line.key}` };
  });
  return { ...top, key: "found", level: 1, node: { ...RESULTS, note, tip: unread || RESULTS.tip }, children: lines, loading: !found, empty: unread || "no name contains this text" };
}

function lineOf(node: TreeNode, parent: Line | null): Line {
  const key = JSON.stringify([node.kind, ...node.path]);
  const level = parent ? parent.level + 1 : 0;
  return { node, key, level, parent, children: null, more: 0, empty: "", loading: false, load: 0, error: "", facts: null, factsOf: 0 };
}

export class TreeModel {
  readonly root = lineOf(ROOT, null);
  /** Keys of the open lines; they stay open over a refresh and a restart of the kernel. */
  readonly open = new Set<string>();
  selected = "";
  current = "";
  warehouse = "";
  loadedAt: Date | null = null;
  private text = "";
  private results: Line | null = null;
  private searches = 0;
  private refreshes = 0;
  private loads = 0;
  private signal = new Signal<this, void>(this);

  constructor(readonly catalog: KernelCatalog) {}

  get changed(): ISignal<this, void> {
    return this.signal;
  }

  get filter(): string {
    return this.text;
  }

  /** Show only names that contain this text. Long lists are searched by the kernel. */
  set filter(text: string) {
    if (text === this.text) return;
    this.text = text;
    for (const line of this.lines()) if (line.more > 0 || line.node.kind === "database") this.searched(line);
    void this.search();
    this.signal.emit();
  }

  /** Let the kernel look for the text in the names that are not loaded, too. */
  private async search(): Promise<void> {
    const search = ++this.searches, text = this.text.trim();
    if (text.length < LEAST_SEARCHED) {
      this.results = null;
      return;
    }
    this.results = resultsOf(null);
    const found = await this.catalog.request<Found>({ do: "search", text }).catch(() => null);
    if (search !== this.searches) return; // another text was typed
    this.results = found && resultsOf(found);
    this.signal.emit();
  }

  private searched(line: Line): void {
    if (line.children && (line.more > 0 || line.children.length === 0)) void this.load(line);
  }

  /** Every loaded line. */
  *lines(from: Line = this.root): Generator<Line> {
    yield from;
    for (const child of from.children ?? []) yield* this.lines(child);
  }

  find(key: string): Line | null {
    for (const line of this.lines()) if (line.key === key) return line;
    return null;
  }

  /** Read the top and all open lines again. */
  async refresh(): Promise<void> {
    this.refreshes += 1;
    await this.load(this.root);
  }

  async expand(line: Line): Promise<void> {
    if (!line.node.expands) return;
    this.open.delete(`${line.key} closed`);
    this.open.add(line.key);
    this.signal.emit();
    if (line.children === null && !line.loading) await this.load(line);
  }

  collapse(line: Line): void {
    this.open.delete(line.key);
    if (line === this.results) this.open.add("found closed");
    this.signal.emit();
  }

  collapseAll(): void {
    this.open.clear();
    this.signal.emit();
  }

  /** The children of a line, and of those among them that are open. A later load of the same line replaces an earlier one. */
  async load(line: Line, start = 0): Promise<void> {
    const load = ++this.loads;
    line.load = load;
    line.loading = true;
    this.signal.emit();
    const { kind, path } = line.node, match = kind === "database" ? this.text : "";
    const answer = await this.catalog.request<Children>({ do: "children", kind, path, match, start }).catch((error: Error) => error);
    if (line.load !== load) return;
    line.loading = false;
    if (answer instanceof CatalogError) {
      line.error = answer.message;
      line.children = line.children ?? [];
    } else if (!(answer instanceof Error)) {
      line.error = "";
      this.merge(line, answer, start);
    } // else the kernel ended: the side bar says so
    this.signal.emit();
    await Promise.all((line.children ?? []).filter((child) => this.open.has(child.key)).map((child) => this.load(child)));
  }

  private merge(line: Line, answer: Children, start: number): void {
    const before = new Map((line.children ?? []).map((c) => [c.key, c]));
    const kept = start > 0 ? line.children ?? [] : [];
    line.children = kept.concat(
      answer.nodes.map((node) => {
        const made = lineOf(node, line), known = before.get(made.key);
        if (!known) return made;
        known.node = node;
        return known;
      }),
    );
    // What the session uses is open at first.
    if (kept.length === 0 && before.size === 0) for (const child of line.children) if (child.node.mark === "current") this.open.add(child.key);
    line.more = answer.more;
    line.empty = answer.empty;
    this.current = answer.current;
    this.warehouse = answer.warehouse;
    this.loadedAt = new Date();
  }

  /** Read size and health of tables that have none since the last refresh. */
  async loadFacts(lines: Line[]): Promise<void> {
    let wanted = lines.filter((l) => l.node.kind === "table" && l.factsOf !== this.refreshes);
    const refresh = this.refreshes;
    for (const line of wanted) line.factsOf = refresh;
    while (wanted.length && refresh === this.refreshes) {
      const now = wanted.slice(0, FACTS_AT_ONCE);
      const answer = await this.catalog.request<Facts>({ do: "facts", paths: now.map((l) => l.node.path) }).catch(() => null);
      if (!answer) return;
      now.slice(0, now.length - answer.left).forEach((line, i) => { line.facts = answer.facts[i]; });
      wanted = wanted.slice(now.length - answer.left);
      this.signal.emit();
    }
  }

  /** What is drawn, from the top. */
  rows(): Row[] {
    const rows: Row[] = [];
    this.addRows(rows, this.root, this.text.toLowerCase());
    this.addResults(rows);
    return rows;
  }

  private addRows(rows: Row[], parent: Line, filter: string): void {
    const shown = (parent.children ?? []).filter((line) => !filter || this.matches(line, filter));
    const remarks = this.remarks(parent, shown.length, filter);
    shown.forEach((line, i) => {
      const found = !!filter && (line.children ?? []).some((c) => this.matches(c, filter));
      const open = line.node.expands && (this.open.has(line.key) || found);
      rows.push({ line, level: line.level, open, remark: "", text: "", position: i + 1, size: shown.length + remarks.length });
      // A name that matches shows all its children; one that only contains matches shows these.
      if (open) this.addRows(rows, line, filter && !found ? "" : filter);
    });
    remarks.forEach(([remark, text], i) =>
      rows.push({ line: parent, level: parent.level + 1, open: false, remark, text, position: shown.length + i + 1, size: shown.length + remarks.length }),
    );
  }

  /** What was found and does not stand above. */
  private addResults(rows: Row[]): void {
    const top = this.results;
    if (!top) return;
    const above = new Set(rows.map((row) => `found ${row.line.key}`)), lines = (top.children ?? []).filter((line) => !above.has(line.key));
    if (!lines.length && top.children?.length) return;
    const open = !this.open.has("found closed"), empty = !lines.length && !top.loading;
    rows.push({ line: top, level: 1, open, remark: "", text: "", position: 1, size: 1 });
    if (open) lines.forEach((line, i) => rows.push({ line, level: 2, open: false, remark: "", text: "", position: i + 1, size: lines.length }));
    if (open && empty) rows.push({ line: top, level: 2, open: false, remark: "empty", text: top.empty, position: 1, size: 1 });
  }

  private matches(line: Line, filter: string): boolean {
    return line.node.label.toLowerCase().includes(filter) || (line.children ?? []).some((c) => this.matches(c, filter));
  }

  private remarks(line: Line, shown: number, filter: string): [Row["remark"], string][] {
    if (line.error) return [["error", line.error]];
    if (line.children === null) return [];
    if (line.more > 0) return [["more", `${line.more.toLocaleString("en-US")} more …`]];
    if (shown === 0 && !line.loading) {
      const text = filter && line.children.length ? "no loaded name matches" : line.empty;
      return text ? [["empty", text]] : [];
    }
    return [];
  }
}
