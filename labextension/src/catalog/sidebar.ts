// The side bar: which kernel it follows, the filter, the tree, and what to do when there is no tree.
import { addIcon, collapseAllIcon, folderIcon, refreshIcon, type LabIcon } from "@jupyterlab/ui-components";
import { Signal, type ISignal } from "@lumino/signaling";
import { PanelLayout, Widget } from "@lumino/widgets";
import { paimonIcon } from "./icons";
import { CatalogError, type KernelCatalog } from "./kernel";
import { TreeModel } from "./model";
import type { Target } from "./target";
import { TreeView } from "./view";

const FILTER_MS = 150;
/** A kernel that is busy for longer than this is mentioned. */
const BUSY_MS = 800;

/** What the user can do when paimon_nb was not loaded. */
function loadProblem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof CatalogError && /No module named/.test(text)
    ? "The kernel's Python has no paimon_nb. Install it there: pip install paimon-nb"
    : `paimon_nb cannot be loaded: ${text}. Run import paimon_nb in a cell to see the whole error.`;
}

export class CatalogSideBar extends Widget {
  readonly tree = new TreeView();
  private target: Target | null = null;
  private model: TreeModel | null = null;
  private models = new WeakMap<KernelCatalog, TreeModel>();
  private problem = "";
  /** The kernel that was asked to load paimon_nb and has not answered. */
  private loading: KernelCatalog | null = null;
  private stale = false;
  private typing = 0;
  private busy = 0;
  private head = document.createElement("div");
  private where = document.createElement("div");
  private path = document.createElement("button");
  private filter = document.createElement("input");
  private state = document.createElement("div");
  private createdSignal = new Signal<this, void>(this);
  private connectedSignal = new Signal<this, void>(this);

  constructor() {
    super();
    this.id = "paimon-nb-catalog";
    this.title.icon = paimonIcon;
    this.title.caption = "Paimon catalog";
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "Paimon catalog side bar");
    this.addClass("pnb-cat");
    this.makeHead();
    const layout = new PanelLayout();
    this.layout = layout;
    const top = new Widget();
    top.node.append(this.head, this.where, this.path, this.filter, this.state);
    layout.addWidget(top);
    layout.addWidget(this.tree);
    this.draw();
  }

  /** The button for a new table. */
  get created(): ISignal<this, void> {
    return this.createdSignal;
  }

  /** The button that opens a warehouse or a catalog. */
  get connected(): ISignal<this, void> {
    return this.connectedSignal;
  }

  get shownModel(): TreeModel | null {
    return this.model;
  }

  get shownTarget(): Target | null {
    return this.target;
  }

  /** Follow another notebook or console. */
  follow(target: Target | null, catalog: KernelCatalog | null): void {
    this.target = target;
    this.problem = "";
    if (this.loading !== catalog) this.loading = null;
    if (this.model?.catalog !== catalog) {
      this.model?.catalog.changed.disconnect(this.onKernel, this);
      this.model?.catalog.altered.disconnect(this.refresh, this);
      this.model?.changed.disconnect(this.drawState, this);
      this.model = catalog && this.modelOf(catalog);
      this.model?.catalog.changed.connect(this.onKernel, this);
      this.model?.catalog.altered.connect(this.refresh, this);
      this.model?.changed.connect(this.drawState, this);
      if (this.model) this.model.filter = this.filter.value;
      this.stale = true;
    }
    this.onKernel();
  }

  private modelOf(catalog: KernelCatalog): TreeModel {
    const known = this.models.get(catalog) ?? new TreeModel(catalog);
    this.models.set(catalog, known);
    return known;
  }

  /** The catalog may have changed: read it again, now or when the side bar is shown. */
  refresh(): void {
    this.stale = true;
    if (!this.isVisible || this.model?.catalog.state !== "ready") return;
    this.stale = false;
    void this.model.refresh();
  }

  protected onAfterShow(): void {
    this.onKernel();
  }

  protected onAfterAttach(): void {
    this.onKernel();
  }

  protected onActivateRequest(): void {
    if (this.filter.hidden) this.node.querySelector<HTMLElement>("button:not([disabled])")?.focus();
    else this.filter.focus();
  }

  private onKernel(): void {
    const state = this.model?.catalog.state;
    if (state !== "absent") {
      // Loaded, or the kernel ends and will not answer.
      this.problem = "";
      this.loading = null;
    }
    if (state !== "ready") this.stale = true;
    else if (this.stale) this.refresh();
    this.draw();
    window.clearTimeout(this.busy);
    if (this.model?.catalog.connection.status === "busy") this.busy = window.setTimeout(() => this.drawState(), BUSY_MS + 50);
  }

  // -- the parts above the tree

  private makeHead(): void {
    this.head.className = "pnb-cat-head";
    const title = document.createElement("h2");
    title.textContent = "Paimon catalog";
    this.head.append(
      title,
      this.button(addIcon, "New table", () => this.createdSignal.emit()),
      this.button(folderIcon, "Open a warehouse or a catalog", () => this.connectedSignal.emit()),
      this.button(collapseAllIcon ?? refreshIcon, "Collapse all", () => this.model?.collapseAll()),
      this.button(refreshIcon, "Refresh", () => this.refresh()),
    );
    this.where.className = "pnb-cat-where";
    this.path.className = "pnb-cat-path";
    this.path.hidden = true;
    this.path.addEventListener("click", () => this.connectedSignal.emit());
    this.filter.type = "search";
    this.filter.placeholder = "Search tables and columns";
    this.filter.setAttribute("aria-label", "Search tables and columns");
    this.filter.className = "pnb-cat-filter";
    this.filter.addEventListener("input", () => {
      window.clearTimeout(this.typing);
      this.typing = window.setTimeout(() => { if (this.model) this.model.filter = this.filter.value; }, FILTER_MS);
    });
    this.filter.addEventListener("keydown", (event) => this.onFilterKey(event));
    this.state.className = "pnb-cat-state";
    this.state.setAttribute("role", "status");
  }

  private onFilterKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.tree.enter();
    } else if (event.key === "Escape" && this.filter.value) {
      event.stopPropagation();
      this.filter.value = "";
      if (this.model) this.model.filter = "";
    }
  }

  private button(icon: LabIcon, label: string, act: () => void): HTMLButtonElement {
    const made = document.createElement("button");
    made.className = "jp-Button pnb-cat-tool";
    made.title = label;
    made.setAttribute("aria-label", label);
    made.appendChild(icon.element({ tag: "span", elementSize: "normal" }));
    made.addEventListener("click", act);
    return made;
  }

  private draw(): void {
    const state = this.model?.catalog.state, ready = state === "ready";
    const ended = state === "restarting" || state === "dead";
    this.tree.display(ready || ended ? this.model : null);
    this.tree.node.toggleAttribute("inert", ended);
    this.toggleClass("pnb-mod-ended", ended);
    this.filter.hidden = !ready;
    for (const button of this.head.querySelectorAll("button")) button.disabled = !ready;
    this.drawState();
  }

  private drawState(): void {
    this.drawWhere();
    const [text, label, act] = this.message();
    if (this.state.dataset.text === text + label) return;
    this.state.dataset.text = text + label;
    this.state.replaceChildren();
    this.state.hidden = !text;
    if (!text) return;
    const line = document.createElement("div");
    line.textContent = text;
    this.state.appendChild(line);
    if (!label) return;
    const button = document.createElement("button");
    button.className = "jp-Button jp-mod-styled jp-mod-accept pnb-cat-button";
    button.textContent = label;
    button.addEventListener("click", act);
    this.state.appendChild(button);
  }

  private drawWhere(): void {
    const { target, model } = this, warehouse = model?.catalog.state === "ready" ? model.warehouse : "";
    this.where.hidden = !target;
    this.path.hidden = !warehouse;
    // The end of a long path is what tells it from others: it is cut at its beginning.
    this.path.textContent = `\u200e${warehouse}`;
    this.path.title = `warehouse ${warehouse}\nOpen another one`;
    this.path.setAttribute("aria-label", `warehouse ${warehouse}: open another one`);
    if (!target) return;
    const kernel = target.session.kernelDisplayName;
    const status = model?.catalog.connection.status ?? "unknown";
    this.where.replaceChildren();
    const dot = document.createElement("span"), name = document.createElement("span");
    dot.className = "pnb-cat-status";
    dot.dataset.status = model?.catalog.state === "dead" ? "dead" : status;
    name.textContent = `${target.name} · ${kernel}`;
    this.where.append(dot, name);
    this.where.title = [`${target.name}: ${kernel}, ${status}`, model?.warehouse && `warehouse ${model.warehouse}`, model?.current && `current ${model.current}`].filter(Boolean).join("\n");
  }

  /** The text, the label of its button, and what the button does. */
  private message(): [string, string, () => void] {
    const nothing = () => undefined, { target, model } = this;
    if (this.problem) return [this.problem, "Try again", () => void this.load()];
    if (!target) return ["Open a notebook or a console: this view shows the tables of its kernel.", "", nothing];
    if (!target.session.session?.kernel) return [`${target.name} has no kernel.`, "Start a kernel", () => void target.session.startKernel()];
    if (!model) return [`${target.name} shares the kernel of a notebook. Open that notebook to see its tables.`, "", nothing];
    const { catalog } = model;
    switch (catalog.state) {
      case "waiting": return [catalog.connection.status === "busy" ? "Waiting for the kernel, which is busy …" : "Waiting for the kernel …", "", nothing];
      case "foreign": return [`The kernel of ${target.name} runs ${catalog.language}. The catalog needs Python.`, "", nothing];
      case "absent":
        if (this.loading === catalog) return [`Loading paimon_nb in the kernel of ${target.name} …`, "", nothing];
        return [`paimon_nb is not loaded in the kernel of ${target.name}.`, "Load paimon_nb", () => void this.load()];
      case "restarting": return ["The kernel is restarting …", "", nothing];
      case "dead": return ["The kernel has died.", "Restart the kernel", () => void target.session.restartKernel()];
    }
    if (catalog.waitedMs < BUSY_MS) return ["", "", nothing];
    const since = model.loadedAt?.toLocaleTimeString();
    return [`The kernel is busy.${since ? ` This is the state of ${since}.` : ""}`, "", nothing];
  }

  private async load(): Promise<void> {
    const catalog = this.model?.catalog;
    if (!catalog) return;
    this.problem = "";
    this.loading = catalog;
    this.draw();
    let problem = "";
    try {
      await catalog.load();
    } catch (error) {
      problem = loadProblem(error);
    }
    if (this.loading !== catalog) return; // the kernel has ended, or the side bar follows another one
    this.loading = null;
    this.problem = problem;
    this.draw();
  }
}
