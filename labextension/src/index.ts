// The extension of JupyterLab and Notebook 7: the editor of %%paimon cells, stored pictures of widgets, cells that panels
// insert, and the catalog in the side bar.
import { catalog } from "./catalog/plugin";
import { endings, help } from "./cells";
import { editor } from "./editor/plugin";
import { highlight } from "./highlight";
import { launcher } from "./launcher";
import { stills } from "./stills";

export default [highlight, stills, endings, help, catalog, editor, launcher];
