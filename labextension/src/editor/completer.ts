// Completion in SQL cells: the kernel's names with their kind, signature and one line of documentation.
import { Completer, CompleterModel, type CompletionHandler, type ICompletionContext, type ICompletionProvider } from "@jupyterlab/completer";
import { isSqlCell } from "./cell";
import type { Kernels } from "./kernels";
import type { Completions } from "./protocol";

const NO_ITEMS: CompletionHandler.ICompletionItemsReply<Item> = { start: 0, end: 0, items: [] };

interface Item extends CompletionHandler.ICompletionItem {
  detail?: string;
  note?: string;
  /** Place of its kind: columns first. */
  place?: number;
}

/** The order of the kernel's offers. While the user types on, JupyterLab sorts by match and name, so that abs() is before amount. */
const KINDS = ["column", "alias", "table", "keyword", "function"];

const placeOf = (kind: string): number => (KINDS.indexOf(kind) + 1 || KINDS.length + 1);

/** Keeps columns before functions while a word is typed. Items of other providers stay as they are. */
class Model extends CompleterModel {
  completionItems(): CompletionHandler.ICompletionItems {
    if (!this.processedItemsCache) {
      const items = super.completionItems() as Item[];
      if (this.query && items.some((item) => item.place !== undefined))
        this.processedItemsCache = [...items].sort((a, b) => (a.place ?? Infinity) - (b.place ?? Infinity) || 0);
    }
    return super.completionItems();
  }
}

/** Shows detail and documentation in the line of an item, which JupyterLab shows only in a panel of its own. */
class Renderer extends Completer.Renderer {
  createCompletionItemNode(item: Item, types: string[]): HTMLLIElement {
    const node = super.createCompletionItemNode(item, types);
    const kind = node.querySelector(".jp-Completer-typeExtended");
    if (!kind || (!item.detail && !item.note)) return node;
    node.classList.add("pnb-offer");
    kind.textContent = item.detail ? "" : (item.type ?? "");
    node.title = [item.type, item.detail, item.note].filter(Boolean).join("\n");
    for (const [className, text] of [["pnb-offer-detail", item.detail], ["pnb-offer-note", item.note]]) {
      if (!text) continue;
      const shown = document.createElement("span");
      shown.className = className ?? "";
      shown.textContent = text;
      kind.append(shown);
    }
    return node;
  }

  itemWidthHeuristic(item: Item): number {
    return super.itemWidthHeuristic(item) + (item.detail?.length ?? 0) + (item.note?.length ?? 0);
  }
}

export class SqlCompletions implements ICompletionProvider<Item> {
  readonly identifier = "paimon-nb:sql";
  /** First: the first provider draws the items, and the kernel's own offers the same names without documentation. */
  readonly rank = 1100;
  readonly renderer = new Renderer();
  readonly modelFactory = async (): Promise<Completer.IModel> => new Model();

  constructor(private kernels: Kernels) {}

  async isApplicable(context: ICompletionContext): Promise<boolean> {
    const editor = context.editor;
    return !!editor && isSqlCell(editor.model.sharedModel.getSource()) && !!this.kernels.ready(editor.model);
  }

  async fetch(request: CompletionHandler.IRequest, context: ICompletionContext): Promise<CompletionHandler.ICompletionItemsReply<Item>> {
    const catalog = context.editor && this.kernels.ready(context.editor.model);
    if (!catalog || catalog.running) return NO_ITEMS;
    const found = await catalog.request<Completions>({ do: "complete", cell: request.text, at: request.offset });
    if (found.start === undefined || found.stop === undefined) return NO_ITEMS;
    const items = found.items.map(([text, kind, detail, note]) => ({
      // A signature begins with the function's name, so that it takes the name's place.
      ...(kind === "function" && detail ? { label: detail } : { label: text, detail }),
      insertText: text, type: kind, note, place: placeOf(kind), documentation: [detail, note].filter(Boolean).join("\n"),
    }));
    return { start: found.start, end: found.stop, items };
  }
}
