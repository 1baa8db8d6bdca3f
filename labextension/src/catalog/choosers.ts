// The line above a panel in a tab: which table and snapshot it shows, the way back, and whether it follows the other tabs.
import { Widget } from "@lumino/widgets";
import type { Choice, Selection } from "./selection";

/** Panels that show the table as it is now. */
const LATEST_ONLY = new Set(["compact", "doctor", "live"]);

const keyOf = ({ node }: Choice): string => JSON.stringify([node.kind, ...node.path]);

export interface Chooser {
  readonly panel: string;
  selection: Selection;
  follows: boolean;
  follow(follows: boolean): void;
}

function control(host: HTMLElement, label: string): HTMLSelectElement {
  const box = document.createElement("label"), select = document.createElement("select");
  box.append(`${label} `, select);
  host.appendChild(box);
  return select;
}

function fill(select: HTMLSelectElement, options: [string, string][], value: string): void {
  const look = JSON.stringify(options);
  if (select.dataset.look !== look) {
    select.dataset.look = look;
    select.replaceChildren(...options.map(([key, text]) => new Option(text, key)));
  }
  select.value = value;
}

export class Choosers extends Widget {
  private table = control(this.node, "Table");
  private snapshot = control(this.node, "Snapshot");
  private back = this.button("‹", "Back to the table and snapshot before (Alt+,)", () => this.tab.selection.back());
  private forward = this.button("›", "Forward again (Alt+.)", () => this.tab.selection.forward());
  private follow = this.button("Follow", "", () => this.tab.follow(!this.tab.follows));
  private note = document.createElement("span");
  private shown: Selection | null = null;

  constructor(private tab: Chooser) {
    super();
    this.addClass("pnb-cat-choosers");
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", "table and snapshot of this tab");
    this.note.className = "pnb-cat-latest";
    this.node.appendChild(this.note);
    this.table.addEventListener("change", () => this.chooseTable());
    this.snapshot.addEventListener("change", () => this.chooseSnapshot());
    this.draw();
  }

  private button(text: string, title: string, act: () => void): HTMLButtonElement {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "pnb-cat-choice";
    made.textContent = text;
    made.title = title;
    if (text.length === 1) made.setAttribute("aria-label", title);
    made.addEventListener("click", act);
    this.node.appendChild(made);
    return made;
  }

  private chooseTable(): void {
    const node = this.tab.selection.tables.find((n) => keyOf({ node: n, snapshot: null }) === this.table.value);
    if (node) this.tab.selection.choose({ node, snapshot: null });
  }

  private chooseSnapshot(): void {
    const { selection } = this.tab, [id] = this.snapshot.value.split(" ");
    selection.choose({ node: selection.current.node, snapshot: id === "" ? null : Number(id) });
  }

  /** Show the choice of the tab, of the selection that it follows now. */
  draw(): void {
    const { selection, follows, panel } = this.tab;
    if (this.shown !== selection) {
      this.shown?.changed.disconnect(this.draw, this);
      this.shown = selection;
      selection.changed.connect(this.draw, this);
    }
    const { node, snapshot } = selection.current, key = keyOf(selection.current);
    const tables = selection.tables.map((n): [string, string] => [keyOf({ node: n, snapshot: null }), n.label]);
    const name = node.kind === "branch" ? `${node.path[2]}, branch ${node.label}` : node.label;
    fill(this.table, tables.some(([k]) => k === key) ? tables : [[key, name], ...tables], key);
    this.fillSnapshots();
    const latestOnly = LATEST_ONLY.has(panel);
    (this.snapshot.parentElement as HTMLElement).hidden = latestOnly;
    this.note.textContent = latestOnly && snapshot !== null ? `shows the latest snapshot, not ${snapshot}` : "";
    const had = [this.back, this.forward].find((b) => b === document.activeElement);
    this.back.disabled = !selection.canGoBack;
    this.forward.disabled = !selection.canGoForward;
    // A button that is disabled loses the focus: the other one takes it.
    if (had?.disabled) (had === this.back ? this.forward : this.back).focus();
    this.follow.setAttribute("aria-pressed", String(follows));
    this.follow.title = follows ? "Shows the table and snapshot that all tabs show. Press to keep this tab as it is" : "Keeps its own table and snapshot. Press to follow the other tabs";
  }

  private fillSnapshots(): void {
    const { selection } = this.tab, { snapshot } = selection.current;
    const offered = selection.snapshots.map((s): [string, string] => (s.tag ? [`${s.id} ${s.tag}`, `${s.id} ⚑ ${s.tag}`] : [String(s.id), `${s.id} ${s.kind}`]));
    const value = snapshot === null ? "" : String(snapshot);
    const known = offered.some(([key]) => key === value);
    fill(this.snapshot, [["", "latest"], ...(snapshot === null || known ? [] : [[value, value] as [string, string]]), ...offered], value);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.shown?.changed.disconnect(this.draw, this);
    super.dispose();
  }
}
