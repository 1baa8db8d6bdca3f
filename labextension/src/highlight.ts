// %%paimon cells are highlighted as SQL.
import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { EditorExtensionRegistry, IEditorExtensionRegistry, IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import { isSqlCell } from "./editor/cell";
import { addLanguage, SQL_MIME as SQL } from "./editor/language";

const PYTHON = new Set(["text/x-ipython", "text/x-python"]);

// One watcher per cell: the cell's language follows its first line, in both directions.
function watch(model: CodeEditor.IModel, languages: IEditorLanguageRegistry): void {
  let python: string | null = null;
  const wantsSql = () => isSqlCell(model.sharedModel.getSource());
  const follow = async () => {
    if (model.isDisposed) return;
    if (wantsSql() && PYTHON.has(model.mimeType)) {
      // JupyterLab applies languages in the order in which they finish loading, so load both before the switch.
      await Promise.all([languages.getLanguage(model.mimeType), languages.getLanguage(SQL)]);
      if (model.isDisposed || !wantsSql() || !PYTHON.has(model.mimeType)) return;
      python = model.mimeType;
      model.mimeType = SQL;
    } else if (!wantsSql() && python && model.mimeType === SQL) {
      model.mimeType = python;
      python = null;
    }
  };
  const soon = () => queueMicrotask(follow);
  model.sharedModel.changed.connect(soon);
  model.mimeTypeChanged.connect(soon);
  setTimeout(follow, 0);
}

export const highlight: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:highlight",
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (_app, extensions: IEditorExtensionRegistry, languages: IEditorLanguageRegistry) => {
    addLanguage(languages);
    extensions.addExtension(
      Object.freeze({
        name: "paimon-nb:sql",
        factory: ({ model }: { model: CodeEditor.IModel }) => {
          watch(model, languages);
          return EditorExtensionRegistry.createImmutableExtension([]);
        },
      }),
    );
  },
};
