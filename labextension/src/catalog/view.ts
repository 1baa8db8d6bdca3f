// The tree as a person sees it: rows, mouse, keyboard. The pattern is the ARIA tree view.
import { Signal, type ISignal } from "@lumino/signaling";
import { Widget } from "@lumino/widgets";
import { icon } from "./icons";
import type { Line, Row, TreeModel } from "./model";
import type { TableFacts } from "./protocol";

const WORDS: Record<string, string> = {
  catalog: "catalog", database: "database", table: "table", view: "view", column: "column", tag: "tag", branch: "branch",
  system_table: "system table", job: "job", found: "results of the search",
};
const HEALTH: Record<TableFacts["health"], [string, string]> = {
  ok: ["●", "healthy"], slow: ["▲", "needs maintenance"], broken: ["✕", "damaged"], empty: ["○", "empty"], unknown: ["", "health not checked"],
};
const TYPED_MS = 700;
/** Rows above and below the visible ones whose facts are read too. */
const MARGIN_PX = 200;

export interface MenuRequest {
  line: Line;
  x: number;
  y: number;
}

function element(name: string, attributes: Record<string, string>, text = ""): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

/** Make a row of the page look like a new one. The row itself stays, so a click or a drag that has begun on it goes on. */
function update(shown: Element, wanted: Element): void {
  for (const name of shown.getAttributeNames()) if (!wanted.hasAttribute(name)) shown.removeAttribute(name);
  for (const name of wanted.getAttributeNames()) {
    const value = wanted.getAttribute(name) ?? "";
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  if (!wanted.childElementCount && shown.textContent !== wanted.textContent) shown.textContent = wanted.textContent;
  while (shown.childElementCount > wanted.childElementCount) shown.lastElementChild?.remove();
  [...wanted.children].forEach((child, i) => {
    const old = shown.children[i];
    if (!old) shown.appendChild(child);
    else if (old.tagName === child.tagName) update(old, child);
    else old.replaceWith(child);
  });
}

export class TreeView extends Widget {
  private model: TreeModel | null = null;
  private rows: Row[] = [];
  private made = new Map<string, HTMLElement>();
  private typed = "";
  private typedAt = 0;
  private drawing = 0;
  private looking = 0;
  private activatedSignal = new Signal<this, Line>(this);
  private menuSignal = new Signal<this, MenuRequest>(this);

  constructor() {
    super();
    this.addClass("pnb-cat-tree");
    this.node.setAttribute("role", "tree");
    this.node.setAttribute("aria-label", "Paimon catalog");
    this.node.addEventListener("click", (event) => this.onClick(event));
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("contextmenu", (event) => this.onContextMenu(event));
    this.node.addEventListener("dragstart", (event) => this.onDrag(event));
    this.node.addEventListener("focusin", (event) => this.onFocus(event));
    this.node.addEventListener("scroll", () => this.look());
  }

  /** Enter or a click on a name. */
  get activated(): ISignal<this, Line> {
    return this.activatedSignal;
  }

  get menu(): ISignal<this, MenuRequest> {
    return this.menuSignal;
  }

  display(model: TreeModel | null): void {
    this.model?.changed.disconnect(this.draw, this);
    this.model = model;
    model?.changed.connect(this.draw, this);
    this.draw();
  }

  /** Draw soon; several changes are drawn at once. */
  draw(): void {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.drawNow();
    });
  }

  private drawNow(): void {
    const focused = this.node.contains(document.activeElement);
    this.rows = this.model?.rows() ?? [];
    this.place(this.rows.map((row, i) => this.drawn(row, i)));
    this.node.setAttribute("aria-busy", String(this.rows.some((row) => row.line.loading)));
    const at = this.selectedIndex();
    for (const row of this.node.querySelectorAll('[tabindex="0"]')) row.setAttribute("tabindex", "-1");
    this.rowNode(at)?.setAttribute("tabindex", "0");
    if (focused && !this.node.contains(document.activeElement)) this.rowNode(at)?.focus({ preventScroll: true });
    this.look();
  }

  /** Rows that were there stay in the page: moving one would end a click that has begun on it. */
  private place(wanted: HTMLElement[]): void {
    const stays = new Set(wanted);
    for (const row of [...this.node.children]) if (!stays.has(row as HTMLElement)) row.remove();
    wanted.forEach((row, i) => {
      if (this.node.children[i] !== row) this.node.insertBefore(row, this.node.children[i] ?? null);
    });
    this.made = new Map(wanted.map((row) => [row.dataset.row ?? "", row]));
  }

  private drawn(row: Row, index: number): HTMLElement {
    const { line, remark } = row, id = `${remark}${line.key}`;
    const selected = !remark && line.key === this.model?.selected;
    const look = JSON.stringify([row.level, row.open, row.text, row.position, row.size, line.node, line.facts, line.loading]);
    let made = this.made.get(id);
    if (made?.dataset.look !== look) {
      const wanted = remark ? this.drawnRemark(row) : this.drawnLine(row);
      if (made) update(made, wanted);
      else made = wanted;
    }
    Object.assign(made.dataset, { row: id, look, index: String(index) });
    if (!remark) made.setAttribute("aria-selected", String(selected));
    return made;
  }

  private drawnRow(row: Row, kind: string): HTMLElement {
    const made = element("div", {
      role: "treeitem", class: "pnb-cat-row", tabindex: "-1", "data-kind": kind,
      "aria-level": String(row.level), "aria-posinset": String(row.position), "aria-setsize": String(row.size),
    });
    made.style.setProperty("--level", String(row.level - 1));
    return made;
  }

  private drawnRemark(row: Row): HTMLElement {
    const made = this.drawnRow(row, row.remark);
    made.appendChild(element("span", { class: "pnb-cat-remark" }, row.text));
    made.title = row.text;
    return made;
  }

  private drawnLine(row: Row): HTMLElement {
    const { line } = row, { node, facts } = line, made = this.drawnRow(row, node.kind);
    if (node.expands) made.setAttribute("aria-expanded", String(row.open));
    made.setAttribute("aria-label", this.spoken(line));
    made.title = facts?.tip ? `${node.label}\n${facts.tip}` : node.tip;
    made.draggable = node.insert !== "";
    if (node.mark) made.dataset.mark = node.mark;
    made.append(
      element("span", { class: "pnb-cat-twisty", "aria-hidden": "true" }, !node.expands ? "" : line.loading ? "◌" : "▸"),
      icon(node.kind, node.mark),
      element("span", { class: "pnb-cat-label" }, node.label),
      element("span", { class: "pnb-cat-note" }, facts?.note ?? node.note),
    );
    if (facts) made.appendChild(element("span", { class: "pnb-cat-health", "data-health": facts.health, "aria-hidden": "true" }, HEALTH[facts.health][0]));
    return made;
  }

  private spoken(line: Line): string {
    const { node, facts } = line;
    const mark = node.kind === "column" ? { key: "primary key", partition: "partition key" }[node.mark] : node.mark === "current" ? "current" : "";
    const health = facts && facts.health !== "empty" ? HEALTH[facts.health][1] : "";
    return [node.label, WORDS[node.kind], facts?.note ?? node.note, mark, health].filter(Boolean).join(", ");
  }

  // -- where the keyboard is

  private rowNode(index: number): HTMLElement | null {
    return (this.node.children[index] as HTMLElement | undefined) ?? null;
  }

  private selectedIndex(): number {
    const at = this.rows.findIndex((row) => !row.remark && row.line.key === this.model?.selected);
    return Math.max(at, 0);
  }

  private focusedIndex(): number {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.index;
    return focused === undefined || !this.node.contains(document.activeElement) ? this.selectedIndex() : Number(focused);
  }

  private onFocus(event: FocusEvent): void {
    const row = (event.target as HTMLElement).closest<HTMLElement>(".pnb-cat-row");
    if (!row || !this.model) return;
    for (const other of this.node.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
    const at = this.rows[Number(row.dataset.index)];
    if (!at || at.remark) return;
    this.node.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    row.setAttribute("aria-selected", "true");
    this.model.selected = at.line.key;
  }

  private go(index: number): void {
    const row = this.rowNode(Math.min(Math.max(index, 0), this.rows.length - 1));
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  }

  /** Move into the tree, for example from the filter box. */
  enter(): void {
    this.go(this.selectedIndex());
  }

  // -- what a person does

  private rowOf(event: Event): Row | null {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".pnb-cat-row") : null;
    return row ? this.rows[Number(row.dataset.index)] ?? null : null;
  }

  private onClick(event: MouseEvent): void {
    const row = this.rowOf(event), model = this.model;
    if (!row || !model) return;
    (event.target as Element).closest<HTMLElement>(".pnb-cat-row")?.focus({ preventScroll: true });
    const onTwisty = (event.target as Element).classList.contains("pnb-cat-twisty") && row.line.node.expands && !row.remark;
    if (onTwisty) this.toggle(row);
    else this.press(row);
  }

  private press(row: Row): void {
    if (row.remark === "more") void this.model?.load(row.line, row.line.children?.length ?? 0);
    else if (row.remark === "error") void this.model?.load(row.line);
    else if (row.remark) return;
    else if (row.line.node.expands && row.line.node.kind !== "table") this.toggle(row);
    else this.activatedSignal.emit(row.line);
  }

  private toggle(row: Row): void {
    if (row.open) this.model?.collapse(row.line);
    else void this.model?.expand(row.line);
  }

  private onContextMenu(event: MouseEvent): void {
    const row = this.rowOf(event);
    event.preventDefault();
    event.stopPropagation();
    if (!row || row.remark) return;
    this.openMenu(row, event.clientX, event.clientY);
  }

  private openMenu(row: Row, x: number, y: number): void {
    this.go(this.rows.indexOf(row));
    this.menuSignal.emit({ line: row.line, x, y });
  }

  private onDrag(event: DragEvent): void {
    const row = this.rowOf(event);
    if (!row || row.remark || !event.dataTransfer) return;
    event.dataTransfer.setData("text/plain", row.line.node.insert);
    event.dataTransfer.effectAllowed = "copy";
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.rows.length) return;
    const at = this.focusedIndex(), row = this.rows[at];
    if (!this.handled(event, at, row)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private handled(event: KeyboardEvent, at: number, row: Row): boolean {
    switch (event.key) {
      case "ArrowDown": this.go(at + 1); return true;
      case "ArrowUp": this.go(at - 1); return true;
      case "Home": this.go(0); return true;
      case "End": this.go(this.rows.length - 1); return true;
      case "ArrowRight": this.right(at, row); return true;
      case "ArrowLeft": this.left(at, row); return true;
      case "Enter": case " ": this.press(row); return true;
      case "*": for (const other of row.line.parent?.children ?? []) void this.model?.expand(other); return true;
      case "ContextMenu": this.menuByKey(at, row); return true;
      case "F10":
        if (event.shiftKey) this.menuByKey(at, row);
        return event.shiftKey;
    }
    return event.key.length === 1 && this.type(event.key, at);
  }

  private right(at: number, row: Row): void {
    if (row.remark || !row.line.node.expands) return;
    if (!row.open) this.toggle(row);
    else if (this.rows[at + 1]?.level > row.level) this.go(at + 1);
  }

  private left(at: number, row: Row): void {
    if (!row.remark && row.open && this.model?.open.has(row.line.key)) return this.toggle(row);
    for (let i = at - 1; i >= 0; i--) if (this.rows[i].level < row.level) return this.go(i);
  }

  private menuByKey(at: number, row: Row): void {
    const box = this.rowNode(at)?.getBoundingClientRect();
    if (box && !row.remark) this.openMenu(row, box.left + 40, box.bottom);
  }

  /** Go to the next row whose name begins with what was typed. */
  private type(character: string, at: number): boolean {
    const now = Date.now();
    this.typed = (now - this.typedAt < TYPED_MS ? this.typed : "") + character.toLowerCase();
    this.typedAt = now;
    const from = this.typed.length > 1 ? at : at + 1;
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[(from + i) % this.rows.length];
      if (!row.remark && row.line.node.label.toLowerCase().startsWith(this.typed)) {
        this.go((from + i) % this.rows.length);
        break;
      }
    }
    return true;
  }

  // -- size and health are read for the tables in view

  private look(): void {
    window.clearTimeout(this.looking);
    this.looking = window.setTimeout(() => void this.model?.loadFacts(this.inView()), 120);
  }

  private inView(): Line[] {
    if (!this.isVisible) return [];
    const box = this.node.getBoundingClientRect();
    return this.rows
      .filter((row, i) => {
        if (row.remark || row.line.node.kind !== "table") return false;
        const at = this.rowNode(i)?.getBoundingClientRect();
        return !!at && at.bottom > box.top - MARGIN_PX && at.top < box.bottom + MARGIN_PX;
      })
      .map((row) => row.line);
  }
}
