// A stored widget without a kernel shows its stored picture or table; a chart is stored as a picture.
import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { CodeCell } from "@jupyterlab/cells";
import type * as nbformat from "@jupyterlab/nbformat";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import type { IRenderMime, IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { PartialJSONObject } from "@lumino/coreutils";

const VIEW = "application/vnd.jupyter.widget-view+json";
const STILL = "image/svg+xml";

// Show the stored SVG instead of "model not found". An image runs no scripts, so this is safe for untrusted notebooks.
function still(node: HTMLElement, model: IRenderMime.IMimeModel): void {
  const image = document.createElement("img");
  image.className = "pnb-still";
  image.alt = String(model.data["text/plain"] || "");
  image.style.maxWidth = "100%";
  image.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
  const text = model.data[STILL] as string | string[];
  image.src = "data:image/svg+xml," + encodeURIComponent(([] as string[]).concat(text).join(""));
  node.replaceChildren(image);
}

// The stored table of a result grid; JupyterLab's own renderer cleans it unless the notebook is trusted.
async function stillTable(node: HTMLElement, model: IRenderMime.IMimeModel, rendermime: IRenderMimeRegistry): Promise<void> {
  const table = rendermime.createRenderer("text/html");
  await table.renderModel(model);
  node.replaceChildren(table.node);
}

function withStill(rendermime: IRenderMimeRegistry): void {
  const live = rendermime.getFactory(VIEW) as (IRenderMime.IRendererFactory & { paimonNb?: boolean }) | undefined;
  if (!live || live.paimonNb) return;
  const factory = {
    safe: live.safe,
    mimeTypes: [VIEW],
    paimonNb: true,
    createRenderer: (options: IRenderMime.IRendererOptions) => {
      const renderer = live.createRenderer(options), render = renderer.renderModel.bind(renderer);
      renderer.renderModel = async (model) => {
        await render(model);
        if (!/model not found/.test(renderer.node.textContent ?? "")) return;
        if (model.data[STILL]) still(renderer.node, model);
        else if (model.data["text/html"]) await stillTable(renderer.node, model, rendermime);
      };
      return renderer;
    },
  };
  rendermime.addFactory(factory, -11);
}

const IMAGE = /^<img class="pnb-still"[^>]*>\n/;

// A result whose chart is open is stored with the chart: as a picture of its own, and above the table for other programs.
function withChart(output: nbformat.IOutput, node: HTMLElement): nbformat.IOutput {
  const grid = node.querySelector(".pnb.datagrid"), data = output.data as PartialJSONObject | undefined;
  if (!grid || !data) return output;
  const detail = { svg: "", text: "" };
  grid.dispatchEvent(new CustomEvent("paimon-nb:still", { detail }));
  const { [STILL]: _, ...others } = data, html = ([] as string[]).concat((data["text/html"] as string | string[]) ?? "").join("").replace(IMAGE, "");
  if (!detail.svg) return { ...output, data: { ...others, "text/html": html } };
  const image = document.createElement("img");
  image.className = "pnb-still";
  image.alt = detail.text;
  image.src = "data:image/svg+xml," + encodeURIComponent(detail.svg);
  return { ...output, data: { ...others, [STILL]: detail.svg, "text/html": `${image.outerHTML}\n${html}` } };
}

// The page draws the charts, so their pictures join the outputs when the notebook is saved.
function storeCharts(panel: NotebookPanel): void {
  const model = panel.context.model, whole = model.toJSON.bind(model);
  model.toJSON = () => {
    const notebook = whole() as nbformat.INotebookContent;
    panel.content.widgets.forEach((cell, i) => {
      const stored = notebook.cells[i];
      if (!(cell instanceof CodeCell) || !stored || !Array.isArray(stored.outputs) || cell.outputArea.widgets.length !== stored.outputs.length) return;
      stored.outputs = (stored.outputs as nbformat.IOutput[]).map((output, j) => withChart(output, cell.outputArea.widgets[j].node));
    });
    return notebook;
  };
}

export const stills: JupyterFrontEndPlugin<void> = {
  id: "paimon-nb:stills",
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app, tracker: INotebookTracker) => {
    // The widget manager adds its renderer to each notebook before the notebook content is loaded.
    tracker.widgetAdded.connect((_, panel) => {
      withStill(panel.content.rendermime);
      void panel.context.ready.then(() => {
        withStill(panel.content.rendermime);
        storeCharts(panel);
      });
    });
  },
};
