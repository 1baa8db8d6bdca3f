// What panels cannot do themselves: insert cells, notice that their kernel is gone, interrupt the kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker, NotebookActions } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";

const GONE = new Set(["restarting", "autorestarting", "terminating", "dead"]);
// Inspection commands change nothing, so they run at once. Statements wait for the user.
// IPython evaluates braces and dollars of a line, so a name with them waits, too.
const RUNS_AT_ONCE = /^%paimon( (\w+ (?:[\w-]+|`[^`{}$\n]+`)(?:\.(?:[\w-]+|`[^`{}$\n]+`))*( (--at )?\d+)*|create|connect|jobs|help|doctor))?$/;

// Commands that only show a panel, whatever they are asked about.
const SHOWS = /^%paimon(\s+(lsm|timeline|explore|compact|skip|why|compare|create|live|watch|jobs|doctor|pipeline|help)\b[^{}$\n]*)?$/;

/** Whether a kernel with this status answers no more. */
export const isGone = (status: string): boolean => GONE.has(status);

/** Tell the panels in a node that their kernel is gone: the widget manager notices a restart, but not a kernel that dies. */
export function endPanels(node: HTMLElement): void {
  for (const panel of node.querySelectorAll(".pnb")) panel.dispatchEvent(new CustomEvent("paimon-nb:kernel-ended"));
}

/** Tell the panels in a node whether their kernel is reached. */
export function tellConnection(node: HTMLElement, status: Kernel.ConnectionStatus): void {
  for (const panel of node.querySelectorAll(".pnb")) panel.dispatchEvent(new CustomEvent("paimon-nb:connection", { detail: status }));
}

export const endings: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:endings",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app, tracker: INotebookTracker) => {
    tracker.widgetAdded.connect((_, panel) => {
      panel.sessionContext.statusChanged.connect((_, status) => {
        if (isGone(status)) endPanels(panel.node);
      });
      panel.sessionContext.connectionStatusChanged.connect((_, status) => tellConnection(panel.node, status));
    });
  },
};

// Widgets have no access to the notebook: they dispatch an event, which the handler cancels.
function insertForWidgets(app: JupyterFrontEnd, tracker: INotebookTracker): void {
  document.addEventListener("paimon-nb:insert", (event) => {
    const { source, run } = (event as CustomEvent).detail;
    const panel = tracker.currentWidget;
    if (!panel || typeof source !== "string") return;
    event.preventDefault();
    void app.commands.execute("notebook:insert-cell-below").then(() => {
      tracker.activeCell?.model.sharedModel.setSource(source);
      if (run === true && RUNS_AT_ONCE.test(source)) return app.commands.execute("notebook:run-cell");
      return NotebookActions.focusActiveCell(panel.content);
    });
  });
}

/** Whether a cell of SQL only reads: a piece of it that might write keeps it from running by itself. */
export function onlyReads(source: string): boolean {
  const text = source.replace(/^\s*%%?paimon[ \t]*(?:-.*)?/, "").replace(/^\s*\w+\s*<<\s*/, "").replace(/--.*$|\/\*[\s\S]*?\*\//gm, "");
  const pieces = text.split(";").map((piece) => piece.trim()).filter(Boolean);
  return pieces.length > 0 && !/\binsert\s+(into|overwrite)\b/i.test(text) && pieces.every((piece) => /^\(*(select|with|from|values|explain|show|describe|desc)\b/i.test(piece));
}

// Cells that read with the value of an input of this notebook, as `:name`.
function runCellsOf(tracker: INotebookTracker): void {
  document.addEventListener("paimon-nb:run-cells", (event) => {
    const name = String((event as CustomEvent).detail?.name);
    const panel = tracker.find((p) => p.node.contains(event.target as Node));
    if (!panel || !/^\w+$/.test(name)) return;
    event.preventDefault();
    const uses = new RegExp(`(^|[^:\\w]):${name}\\b`);
    const cells = panel.content.widgets.filter((cell) => {
      const source = cell.model.sharedModel.getSource();
      return cell.model.type === "code" && /^\s*%%?paimon\b/.test(source) && uses.test(source) && onlyReads(source);
    });
    if (cells.length) void NotebookActions.runCells(panel.content, cells, panel.sessionContext);
  });
}

/** Whether a cell does nothing but load paimon_nb, connect, and import. */
export function onlyConnects(source: string): boolean {
  const lines = source.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  return lines.some((line) => /^%(load_ext\s+paimon_nb|paimon\s+connect\b)/.test(line))
    && lines.every((line) => /^(%(re)?load_ext\s+\w+|%paimon\s+connect\b[^{}$]*|(import|from)\s.*)$/.test(line));
}

// A panel of a kernel that has ended asks to be shown again: the cells above it that connect run, and its own cell if it only
// reads. A cell that may write waits for the user.
function showAgain(tracker: INotebookTracker): void {
  document.addEventListener("paimon-nb:again", (event) => {
    const panel = tracker.find((p) => p.node.contains(event.target as Node));
    const cells = panel?.content.widgets ?? [], at = cells.findIndex((cell) => cell.node.contains(event.target as Node));
    if (!panel || at < 0) return;
    event.preventDefault();
    const source = (cell: (typeof cells)[number]) => cell.model.sharedModel.getSource().trim();
    const reads = SHOWS.test(source(cells[at])) || (/^%%?paimon\b/.test(source(cells[at])) && onlyReads(source(cells[at])));
    const chosen = cells.slice(0, at).filter((cell) => cell.model.type === "code" && onlyConnects(source(cell)));
    panel.content.activeCellIndex = at;
    const dead = panel.sessionContext.session?.kernel?.status === "dead" || !panel.sessionContext.session?.kernel;
    void (dead ? panel.sessionContext.restartKernel() : Promise.resolve())
      .then(() => NotebookActions.runCells(panel.content, reads ? [...chosen, cells[at]] : chosen, panel.sessionContext))
      .then(() => NotebookActions.focusActiveCell(panel.content));
  });
}

const cancelButton = (target: EventTarget | null): HTMLButtonElement | null =>
  target instanceof Element ? target.closest<HTMLButtonElement>("button.pnb-cancel") : null;

// The cancel button of a progress line interrupts the kernel. The line is drawn again several times a second, so a click may
// begin on one button and end on the next: the press counts. A keyboard's click has no press before it.
function cancelButtons(tracker: INotebookTracker): void {
  const style = document.createElement("style");
  style.textContent = "button.pnb-cancel{display:inline-block !important}";
  document.head.appendChild(style);
  const interrupt = (event: MouseEvent): void => {
    const panel = tracker.currentWidget, pressed = cancelButton(event.target);
    const kernel = pressed && panel && panel.node.contains(pressed) ? panel.sessionContext.session?.kernel : null;
    if (!pressed || !kernel) return;
    pressed.disabled = true;
    void kernel.interrupt();
  };
  document.addEventListener("pointerdown", (event) => { if (event.button === 0) interrupt(event); });
  document.addEventListener("click", (event) => { if (event.detail === 0) interrupt(event); });
  document.addEventListener("focusin", (event) => {
    const button = cancelButton(event.target);
    if (button) keepFocus(button);
  });
}

// A line that is drawn again has a new button: it takes the focus of the one before, unless the user has moved on.
function keepFocus(button: HTMLButtonElement): void {
  const area = button.closest(".jp-OutputArea");
  if (!area) return;
  const watch = new MutationObserver(() => {
    if (button.isConnected) return;
    watch.disconnect();
    if (document.activeElement === document.body) area.querySelector<HTMLButtonElement>("button.pnb-cancel")?.focus();
  });
  watch.observe(area, { childList: true, subtree: true });
  // A button that is removed loses the focus, too.
  button.addEventListener("blur", () => setTimeout(() => { if (button.isConnected) watch.disconnect(); }, 0));
}

export const help: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:help",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (app, tracker: INotebookTracker) => {
    insertForWidgets(app, tracker);
    runCellsOf(tracker);
    showAgain(tracker);
    cancelButtons(tracker);
  },
};
