// Documentation and problems in a tool tip: by mouse over a name, by keyboard at the cursor.
import { Prec, StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, showTooltip, tooltips, type Tooltip } from "@codemirror/view";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import { isSqlCell } from "./cell";
import { problemsAt } from "./checks";
import type { Kernels } from "./kernels";
import type { Described, Problem } from "./protocol";

const HOVER_MS = 350;

const setTip = StateEffect.define<Tooltip | null>();

/** The tool tip that a key opened. It closes when the text or the cursor changes. */
const tip = StateField.define<Tooltip | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setTip)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

function part(parent: HTMLElement, className: string, text: string): HTMLElement {
  const node = document.createElement("div");
  node.className = className;
  node.textContent = text;
  parent.append(node);
  return node;
}

function content(problems: Problem[], described: Described): HTMLElement {
  const node = document.createElement("div");
  node.className = "pnb-tip";
  node.setAttribute("role", "tooltip");
  for (const problem of problems) {
    const shown = part(node, "pnb-tip-problem", "");
    part(shown, "pnb-tip-message", `${problem.kind}: ${problem.message}`);
    if (problem.hint) part(shown, "pnb-tip-hint", `→ ${problem.hint}`);
  }
  if (described.title) {
    const shown = part(node, "pnb-tip-name", "");
    part(shown, "pnb-tip-title", described.title);
    for (const line of described.lines ?? []) part(shown, "pnb-tip-line", line);
  }
  return node;
}

/** What is known about a position; null: nothing. The kernel is asked unless it runs a cell. */
async function tipAt(view: EditorView, position: number, model: CodeEditor.IModel, kernels: Kernels): Promise<Tooltip | null> {
  const cell = view.state.doc.toString();
  if (!isSqlCell(cell)) return null;
  const problems = problemsAt(view.state, position), catalog = kernels.ready(model);
  let described: Described = {};
  if (catalog && !catalog.running) described = await catalog.request<Described>({ do: "describe", cell, at: position }).catch(() => ({}));
  if (view.state.doc.toString() !== cell || (!problems.length && !described.title)) return null;
  const starts = [...problems.map((p) => p.from), ...(described.start === undefined ? [] : [described.start])];
  const stops = [...problems.map((p) => p.to), ...(described.stop === undefined ? [] : [described.stop])];
  return {
    pos: Math.min(...starts), end: Math.max(...stops), above: false,
    create: () => ({ dom: content(problems.map((p) => p.problem), described) }),
  };
}

let spoken: HTMLElement | null = null;

/** Tell screen readers the text of a tool tip that a key opened. */
function say(text: string): void {
  if (!spoken) {
    spoken = document.createElement("div");
    spoken.className = "pnb-spoken";
    spoken.setAttribute("role", "status");
    document.body.append(spoken);
  }
  spoken.textContent = text;
}

/** Open the tool tip at the cursor. */
export async function openTip(view: EditorView, model: CodeEditor.IModel, kernels: Kernels): Promise<void> {
  const position = view.state.selection.main.head, found = await tipAt(view, position, model, kernels);
  if (view.state.selection.main.head !== position) return;
  view.dispatch({ effects: setTip.of(found) });
  say(view.dom.ownerDocument.querySelector(".pnb-tip")?.textContent ?? "nothing is known about this word");
}

function closeTip(view: EditorView): boolean {
  if (!view.state.field(tip, false)) return false;
  view.dispatch({ effects: setTip.of(null) });
  return true;
}

/** The extension of one editor. */
export function documentation(model: CodeEditor.IModel, kernels: Kernels): Extension {
  return [
    tip,
    hoverTooltip((view, position) => tipAt(view, position, model, kernels), { hoverTime: HOVER_MS }),
    tooltips({ parent: document.body }),
    Prec.highest(keymap.of([{ key: "Escape", run: closeTip }])),
    EditorView.domEventHandlers({ blur: (_, view) => void closeTip(view) }),
  ];
}
