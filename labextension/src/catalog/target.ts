// The notebook or console that the side bar follows.
import type { ISessionContext } from "@jupyterlab/apputils";
import type { ConsolePanel } from "@jupyterlab/console";
import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Widget } from "@lumino/widgets";

export interface Target {
  readonly widget: Widget;
  readonly session: ISessionContext;
  readonly name: string;
  readonly rendermime: IRenderMimeRegistry;
  /** Put text at the cursor. */
  insert(text: string): void;
  /** Put text into a new cell below, or the prompt of a console. */
  cell(source: string, run: boolean): Promise<void>;
}

export function ofNotebook(panel: NotebookPanel): Target {
  return {
    widget: panel,
    session: panel.sessionContext,
    get name() {
      return panel.title.label;
    },
    rendermime: panel.content.rendermime,
    insert: (text) => {
      panel.content.activeCell?.editor?.replaceSelection?.(text);
      panel.content.activeCell?.editor?.focus();
    },
    cell: async (source, run) => {
      const notebook = panel.content;
      NotebookActions.insertBelow(notebook);
      notebook.activeCell?.model.sharedModel.setSource(source);
      if (run) {
        await NotebookActions.run(notebook, panel.sessionContext);
        return;
      }
      await NotebookActions.focusActiveCell(notebook);
      const editor = notebook.activeCell?.editor;
      if (editor) editor.setCursorPosition(editor.getPositionAt(source.length) ?? { line: 0, column: 0 });
    },
  };
}

export function ofConsole(panel: ConsolePanel): Target {
  return {
    widget: panel,
    session: panel.sessionContext,
    get name() {
      return panel.title.label;
    },
    rendermime: panel.console.rendermime,
    insert: (text) => {
      panel.console.promptCell?.editor?.replaceSelection?.(text);
      panel.console.promptCell?.editor?.focus();
    },
    cell: async (source, run) => {
      if (run) {
        await panel.console.inject(source);
        return;
      }
      panel.console.promptCell?.model.sharedModel.setSource(source);
      panel.console.promptCell?.editor?.focus();
    },
  };
}
