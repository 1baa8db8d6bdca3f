// Problems while typing: asks the kernel when the user pauses, and underlines what it answers.
import { Prec, StateEffect, StateField, type EditorState, type Extension, type Range } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { KernelCatalog } from "../catalog/kernel";
import { isSqlCell } from "./cell";
import type { Kernels } from "./kernels";
import type { Checked, Problem } from "./protocol";

const PAUSE_MS = 400;
/** How long a problem at the cursor waits for the rest of its word. */
const WORD_MS = 1200;

interface Marks {
  problems: DecorationSet;
  names: DecorationSet;
  /** The word at the cursor may be unfinished: its problem is not underlined yet. */
  typing: boolean;
}

/** Show what the kernel found, or nothing. */
export const show = StateEffect.define<Checked | null>();
/** The word at the cursor counts as finished. */
const finished = StateEffect.define<null>();
const NOTHING: Marks = { problems: Decoration.none, names: Decoration.none, typing: false };

/** A span of at least one character inside the text. */
function inside(problem: Problem, length: number): [number, number] {
  const start = Math.max(0, Math.min(problem.start, length - 1));
  return [start, Math.max(start + 1, Math.min(problem.stop, length))];
}

function marksOf(checked: Checked, length: number, typing: boolean): Marks {
  if (!length) return { ...NOTHING, typing };
  const problems = checked.problems.map((problem): Range<Decoration> => {
    const [from, to] = inside(problem, length);
    return Decoration.mark({ class: "pnb-problem", problem }).range(from, to);
  });
  const names = checked.names
    .filter(([from, to]) => from < to && to <= length)
    .map(([from, to, kind]) => Decoration.mark({ class: `pnb-name-${kind}` }).range(from, to));
  return { problems: Decoration.set(problems, true), names: Decoration.set(names, true), typing };
}

const marks = StateField.define<Marks>({
  create: () => NOTHING,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(show)) return effect.value ? marksOf(effect.value, transaction.newDoc.length, value.typing) : { ...NOTHING, typing: value.typing };
      if (effect.is(finished)) return { ...value, typing: false };
    }
    if (!transaction.docChanged) return transaction.selection ? { ...value, typing: false } : value;
    const typing = transaction.isUserEvent("input") || transaction.isUserEvent("delete");
    return { problems: value.problems.map(transaction.changes), names: value.names.map(transaction.changes), typing };
  },
  provide: (field) => [
    Prec.high(EditorView.decorations.from(field, (value) => value.names)),
    Prec.highest(EditorView.decorations.compute([field, "selection"], underlined)),
  ],
});

/** Whether a span ends or lies at the cursor. */
const atCursor = (state: EditorState, from: number, to: number): boolean => from <= state.selection.main.head && state.selection.main.head <= to;

/** The problems without that of the word that is being typed. */
function underlined(state: EditorState): DecorationSet {
  const { problems, typing } = state.field(marks);
  return typing ? problems.update({ filter: (from, to) => !atCursor(state, from, to) }) : problems;
}

/** The problems that a position touches. */
export function problemsAt(state: EditorState, position: number): { problem: Problem; from: number; to: number }[] {
  const found: { problem: Problem; from: number; to: number }[] = [];
  state.field(marks, false)?.problems.between(position, position, (from, to, mark) => {
    found.push({ problem: mark.spec.problem as Problem, from, to });
  });
  return found;
}

/** The start of the next problem after a position, of the first one at the end; null: there is none. */
export function nextProblem(state: EditorState, position: number): number | null {
  let first: number | null = null, next: number | null = null;
  state.field(marks, false)?.problems.between(0, state.doc.length, (from) => {
    first ??= from;
    if (from > position) next ??= from;
  });
  return next ?? first;
}

export function clear(view: EditorView): void {
  const shown = view.state.field(marks, false);
  if (shown && (shown.problems.size || shown.names.size)) view.dispatch({ effects: show.of(null) });
}

/** Asks for one editor: after a pause in typing, after a cell has run, and when paimon_nb is loaded. */
class Checker {
  private timer = 0;
  private wordTimer = 0;
  private catalog: KernelCatalog | null = null;
  private asked = 0;
  private shown: string | null = null;
  private state = "";

  constructor(private view: EditorView, private model: CodeEditor.IModel, private kernels: Kernels) {
    this.soon();
  }

  update(update: ViewUpdate): void {
    if (update.focusChanged && !update.view.hasFocus) setTimeout(this.finish);
    if (!update.docChanged) return;
    window.clearTimeout(this.wordTimer);
    this.asked += 1; // an answer to the older text is dropped
    // What is shown stays at its words until the answer comes; a busy kernel gives none.
    if (this.catalog?.running || !isSqlCell(update.state.doc.toString())) setTimeout(() => clear(this.view));
    this.soon();
  }

  destroy(): void {
    window.clearTimeout(this.timer);
    window.clearTimeout(this.wordTimer);
    this.follow(null);
    this.asked += 1;
  }

  private soon = (): void => {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), PAUSE_MS);
  };

  /** Underline the problem at the cursor, too: the word is finished, or its user pauses. */
  private finish = (): void => {
    window.clearTimeout(this.wordTimer);
    if (this.view.state.field(marks).typing) this.view.dispatch({ effects: finished.of(null) });
  };

  again = (): void => {
    this.shown = null;
    this.soon();
  };

  /** The kernel was restarted, or paimon_nb was loaded. */
  private onState = (): void => {
    if (this.catalog?.state === this.state) return;
    this.state = this.catalog?.state ?? "";
    this.again();
  };

  private follow(catalog: KernelCatalog | null): void {
    if (catalog === this.catalog) return;
    this.catalog?.ran.disconnect(this.again);
    this.catalog?.changed.disconnect(this.onState);
    this.catalog = catalog;
    this.state = catalog?.state ?? "";
    catalog?.ran.connect(this.again);
    catalog?.changed.connect(this.onState);
  }

  private async check(): Promise<void> {
    const cell = this.view.state.doc.toString();
    if (!isSqlCell(cell)) return;
    const catalog = this.kernels.of(this.model);
    this.follow(catalog);
    if (catalog?.state !== "ready") {
      clear(this.view);
      this.shown = null;
      return;
    }
    if (catalog.running || cell === this.shown) return;
    const asked = ++this.asked;
    const answer = await catalog.request<Checked>({ do: "check", cell }).catch(() => null);
    if (asked !== this.asked || !answer?.problems || catalog.running) return;
    this.shown = cell;
    this.view.dispatch({ effects: show.of(answer) });
    window.clearTimeout(this.wordTimer);
    this.wordTimer = window.setTimeout(this.finish, WORD_MS);
  }
}

const checkers = new Set<Checker>();

/** Check all editors again: a kernel has loaded paimon_nb. */
export function checkAll(): void {
  for (const checker of checkers) checker.again();
}

/** The extension of one editor. */
export function checks(model: CodeEditor.IModel, kernels: Kernels): Extension {
  const plugin = ViewPlugin.define((view) => {
    const checker = new Checker(view, model, kernels);
    checkers.add(checker);
    return {
      update: (update: ViewUpdate) => checker.update(update),
      destroy: () => {
        checkers.delete(checker);
        checker.destroy();
      },
    };
  });
  return [marks, plugin];
}
