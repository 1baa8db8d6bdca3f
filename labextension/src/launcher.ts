// A card in the launcher: a notebook that is connected to a warehouse.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ILauncher } from "@jupyterlab/launcher";
import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { paimonIcon } from "./catalog/icons";

const OPEN = "paimon-nb:new-notebook";
const FIRST_CELL = "%load_ext paimon_nb\n%paimon connect";

/** The default kernel if it is Python, else the first Python; none: JupyterLab asks. */
function pythonKernel(app: JupyterFrontEnd): { name: string } | undefined {
  const specs = app.serviceManager.kernelspecs?.specs, all = Object.values(specs?.kernelspecs ?? {});
  const found = [...all.filter((s) => s?.name === specs?.default), ...all].find((s) => s?.language.toLowerCase() === "python");
  return found && { name: found.name };
}

async function open(app: JupyterFrontEnd, folder: string): Promise<NotebookPanel> {
  const { path } = await app.commands.execute("docmanager:new-untitled", { path: folder, type: "notebook" });
  const panel: NotebookPanel = await app.commands.execute("docmanager:open", { path, factory: "Notebook", kernel: pythonKernel(app) });
  void Promise.all([panel.context.ready, panel.revealed]).then(async () => {
    await panel.sessionContext.ready;
    panel.content.widgets[0]?.model.sharedModel.setSource(FIRST_CELL);
    await NotebookActions.run(panel.content, panel.sessionContext);
  });
  return panel;
}

export const launcher: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:launcher",
  description: "A notebook with a Paimon warehouse, from the launcher",
  autoStart: true,
  // Notebook 7 may not share this package.
  optional: [ILauncher].filter(Boolean),
  activate: (app: JupyterFrontEnd, cards: ILauncher | null) => {
    app.commands.addCommand(OPEN, {
      label: "Paimon notebook", caption: "A notebook that opens a warehouse", icon: paimonIcon, execute: (args) => open(app, String(args.cwd ?? "")),
    });
    cards?.add({ command: OPEN, category: "Notebook", rank: 1 });
  },
};
