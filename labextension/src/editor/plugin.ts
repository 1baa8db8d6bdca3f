// The editor of %%paimon cells: problems while typing, documentation, completion and formatting.
import type { EditorView } from "@codemirror/view";
import { EditorView as View } from "@codemirror/view";
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import { EditorExtensionRegistry, IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { ICompletionProviderManager } from "@jupyterlab/completer";
import { IConsoleTracker } from "@jupyterlab/console";
import { INotebookTracker } from "@jupyterlab/notebook";
import { isSqlCell } from "./cell";
import { checkAll, checks, nextProblem } from "./checks";
import { SqlCompletions } from "./completer";
import { format } from "./format";
import { Kernels } from "./kernels";
import css from "./style.css";
import { documentation, openTip } from "./tooltip";

const SQL_EDITOR = ".cm-editor.pnb-sql .cm-content";
/** As JupyterLab's own tool tip: a selection or an indent keeps Shift+Tab for itself. */
const AT_A_WORD = `.jp-InputArea-editor:not(.jp-mod-has-primary-selection):not(.jp-mod-in-leading-whitespace):not(.jp-mod-completer-active) ${SQL_EDITOR}`;

type Action = (view: EditorView, model: CodeEditor.IModel) => Promise<void>;

/** The cell editor that has the focus, or that of the active cell. */
function activeEditor(notebooks: INotebookTracker, consoles: IConsoleTracker | null): { view: EditorView; model: CodeEditor.IModel } | null {
  const prompt = consoles?.currentWidget?.console.promptCell ?? null;
  const cell = prompt?.editor?.hasFocus() ? prompt : notebooks.activeCell;
  const view = (cell?.editor as unknown as { editor?: EditorView } | null)?.editor;
  return cell && view ? { view, model: cell.model } : null;
}

function addCommands(app: JupyterFrontEnd, notebooks: INotebookTracker, consoles: IConsoleTracker | null, palette: ICommandPalette | null, kernels: Kernels): void {
  const add = (id: string, label: string, keys: string[], selector: string, run: Action): void => {
    app.commands.addCommand(id, {
      label,
      isEnabled: () => isSqlCell(activeEditor(notebooks, consoles)?.model.sharedModel.getSource() ?? ""),
      execute: async () => {
        const found = activeEditor(notebooks, consoles);
        if (found) await run(found.view, found.model);
      },
    });
    app.commands.addKeyBinding({ command: id, keys, selector });
    palette?.addItem({ command: id, category: "Paimon" });
  };
  add("paimon-nb:format", "Format SQL", ["Accel Shift F"], SQL_EDITOR, (view, model) => format(view, model, kernels));
  app.contextMenu.addItem({ command: "paimon-nb:format", selector: SQL_EDITOR, rank: 0 });
  add("paimon-nb:describe", "Show Documentation of a SQL Name", ["Shift Tab"], AT_A_WORD, (view, model) => openTip(view, model, kernels));
  add("paimon-nb:next-problem", "Go to the Next SQL Problem", ["F8"], SQL_EDITOR, async (view, model) => {
    const at = nextProblem(view.state, view.state.selection.main.head);
    if (at === null) return;
    view.focus();
    view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    await openTip(view, model, kernels);
  });
}

export const editor: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:editor",
  description: "Problems while typing, documentation, completion and formatting in %%paimon cells",
  autoStart: true,
  requires: [IEditorExtensionRegistry, INotebookTracker],
  optional: [IConsoleTracker, ICompletionProviderManager, ICommandPalette],
  activate: (
    app, extensions: IEditorExtensionRegistry, notebooks: INotebookTracker, consoles: IConsoleTracker | null,
    completions: ICompletionProviderManager | null, palette: ICommandPalette | null,
  ) => {
    const style = document.createElement("style");
    style.textContent = css;
    document.head.appendChild(style);
    const kernels = new Kernels(notebooks, consoles);
    extensions.addExtension(
      Object.freeze({
        name: "paimon-nb:editor",
        factory: ({ model }: { model: CodeEditor.IModel }) =>
          EditorExtensionRegistry.createImmutableExtension([
            checks(model, kernels),
            documentation(model, kernels),
            View.editorAttributes.of((view) => (isSqlCell(view.state.doc.sliceString(0, 2000)) ? { class: "pnb-sql" } : null)),
          ]),
      }),
    );
    notebooks.widgetAdded.connect((_, panel) => panel.sessionContext.kernelChanged.connect(() => setTimeout(checkAll)));
    completions?.registerProvider(new SqlCompletions(kernels));
    addCommands(app, notebooks, consoles, palette, kernels);
  },
};
