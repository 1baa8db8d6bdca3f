// Formats the SQL of a cell on request. The kernel checks that the statements stay the same.
import type { EditorView } from "@codemirror/view";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import { warn } from "../notice";
import { isSqlCell } from "./cell";
import { show } from "./checks";
import type { Kernels } from "./kernels";
import type { Formatted } from "./protocol";

const refuse = (reason: string): void => warn(`Not formatted: ${reason}`);

/** Characters of a text up to an offset that are not blank. */
const solid = (text: string): number => text.replace(/\s+/g, "").length;

/** The offset in front of which a text has a number of characters that are not blank. */
function offsetOf(text: string, count: number): number {
  let at = 0;
  for (; at < text.length && count > 0; at++) if (/\S/.test(text[at])) count--;
  return at;
}

/** Replace the text by the formatted one; the cursor stays at its word. */
export async function format(view: EditorView, model: CodeEditor.IModel, kernels: Kernels): Promise<void> {
  const cell = view.state.doc.toString();
  if (!isSqlCell(cell)) return;
  const catalog = kernels.ready(model);
  if (!catalog) return refuse("paimon_nb is not loaded in the kernel; run %load_ext paimon_nb");
  if (catalog.running) return refuse("the kernel is busy");
  let answer: Formatted;
  try {
    answer = await catalog.request<Formatted>({ do: "format", cell });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  if (view.state.doc.toString() !== cell) return;
  if (answer.problems) view.dispatch({ effects: show.of({ problems: answer.problems, names: [] }) });
  if (answer.cell === undefined) return refuse(answer.refused ?? "the kernel gave no answer");
  if (answer.cell === cell) return;
  const head = offsetOf(answer.cell, solid(cell.slice(0, view.state.selection.main.head)));
  view.dispatch({ changes: { from: 0, to: cell.length, insert: answer.cell }, selection: { anchor: head }, scrollIntoView: true });
}
