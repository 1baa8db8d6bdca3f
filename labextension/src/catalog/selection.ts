// The table and the snapshot that the tabs of a notebook show. What was shown before can be shown again.
import { Signal, type ISignal } from "@lumino/signaling";
import type { KernelCatalog } from "./kernel";
import type { Children, OfferedSnapshot, Snapshots, TreeNode } from "./protocol";

export interface Choice {
  node: TreeNode;
  /** null: the latest. */
  snapshot: number | null;
}

/** Snapshots of one table that are chosen in quick succession, with a slider or by a film, are one step. */
const STEP_MS = 2000;
const MAX_STEPS = 100;

export const sameTable = (a: TreeNode, b: TreeNode): boolean => a.kind === b.kind && a.path.join("\0") === b.path.join("\0");
const same = (a: Choice, b: Choice): boolean => a.snapshot === b.snapshot && sameTable(a.node, b.node);

export class Selection {
  /** Tables of the same database, and the table itself. */
  tables: TreeNode[] = [];
  snapshots: OfferedSnapshot[] = [];
  private past: Choice[] = [];
  private future: Choice[] = [];
  private chosenAt = 0;
  private reads = 0;
  private signal = new Signal<this, void>(this);

  constructor(readonly catalog: KernelCatalog, private choice: Choice) {
    void this.read();
  }

  /** The choice or what is offered changed. */
  get changed(): ISignal<this, void> {
    return this.signal;
  }

  get current(): Choice {
    return this.choice;
  }

  get canGoBack(): boolean {
    return this.past.length > 0;
  }

  get canGoForward(): boolean {
    return this.future.length > 0;
  }

  choose(next: Choice): void {
    if (same(next, this.choice)) return;
    const now = Date.now(), isStep = !sameTable(next.node, this.choice.node) || now - this.chosenAt > STEP_MS;
    if (isStep) this.past = [...this.past, this.choice].slice(-MAX_STEPS);
    this.chosenAt = now;
    this.future = [];
    this.show(next);
  }

  back(): void {
    const before = this.past.pop();
    if (!before) return;
    this.future.push(this.choice);
    this.chosenAt = 0;
    this.show(before);
  }

  forward(): void {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(this.choice);
    this.chosenAt = 0;
    this.show(next);
  }

  /** Read which tables and snapshots there are, once for all tabs that ask at the same time. */
  async read(): Promise<void> {
    const read = ++this.reads;
    await Promise.resolve();
    if (read !== this.reads) return;
    const { node } = this.choice;
    const list = { do: "children", kind: "database", path: node.path.slice(0, 2), match: "", start: 0 };
    const [tables, snapshots] = await Promise.all([
      this.catalog.request<Children>(list).catch(() => null),
      this.catalog.request<Snapshots>({ do: "snapshots", kind: node.kind, path: node.path }).catch(() => null),
    ]);
    if (read !== this.reads) return;
    if (tables) this.tables = tables.nodes.filter((n) => n.kind === "table");
    if (snapshots) this.snapshots = snapshots.snapshots;
    this.signal.emit();
  }

  private show(choice: Choice): void {
    const moved = !sameTable(choice.node, this.choice.node);
    this.choice = choice;
    if (moved) this.snapshots = [];
    this.signal.emit();
    if (moved) void this.read();
  }
}
