// The kernel of a cell, found by the cell's model: editors do not know where they are.
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { IConsoleTracker } from "@jupyterlab/console";
import type { INotebookTracker } from "@jupyterlab/notebook";
import { catalogOf, type KernelCatalog } from "../catalog/kernel";

export class Kernels {
  constructor(private notebooks: INotebookTracker, private consoles: IConsoleTracker | null) {}

  /** The kernel of a cell if paimon_nb is loaded in it; else null. */
  ready(model: CodeEditor.IModel): KernelCatalog | null {
    const found = this.of(model);
    return found?.state === "ready" ? found : null;
  }

  /** The connection to the kernel of a cell; null: it has none. */
  of(model: CodeEditor.IModel): KernelCatalog | null {
    const session = this.notebooks.find((panel) => panel.content.widgets.some((cell) => cell.model === model))?.sessionContext
      ?? this.consoles?.find((panel) => panel.console.promptCell?.model === model)?.sessionContext;
    return catalogOf(session?.session?.kernel?.id);
  }
}
