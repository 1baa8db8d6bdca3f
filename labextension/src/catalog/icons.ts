// Icons of the tree, 16 × 16, in the colour of the text.
import { LabIcon } from "@jupyterlab/ui-components";

const PATHS: Record<string, string> = {
  catalog: "M2 3.2h12v2.6H2zM2 6.8h12v2.6H2zM2 10.4h12V13H2z",
  database: "M8 2c3 0 5 .9 5 2v8c0 1.100-2 2-5 2s-5-.9-5-2V4c0-1.100 2-2 5-2zM3 4c0 1.100 2 2 5 2s5-.9 5-2M3 8c0 1.100 2 2 5 2s5-.9 5-2",
  table: "M2 3h12v10H2zM2 6.200h12M2 9.600h12M6.200 6.200V13",
  view: "M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8zM8 6.200a1.800 1.800 0 1 0 0 3.600 1.800 1.800 0 0 0 0-3.600z",
  column: "M5.500 3h5v10h-5z",
  key: "M6.200 4.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600zM9 7h5.500M12.500 7v2.600",
  partition: "M2 3h5v10H2zM9 3h5v4H9zM9 9h5v4H9z",
  tag: "M2 3h5.500l6 6-4.500 4.500-7-6.500zM5 5.600v.1",
  branch: "M5 2.500v11M5 10c0-3 6-1.500 6-5M11 2.500a1.300 1.300 0 1 0 0 2.600 1.300 1.300 0 0 0 0-2.600z",
  system: "M2 3h12v10H2zM2 6.200h12M4.500 9.500h2M9 9.500h2.500",
  job: "M5 3.500v9l7-4.500z",
  found: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.200 10.200l3.600 3.600",
  temporary: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3.200l2.200 1.500",
};

const SHAPES: Record<string, keyof typeof PATHS> = {
  tags: "tag", branches: "branch", system_table: "system", jobs: "job",
};

const SVG = "http://www.w3.org/2000/svg";

export function icon(kind: string, mark: string): SVGElement {
  const shape = kind === "column" && mark ? mark : SHAPES[kind] ?? kind;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "pnb-cat-icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[shape] ?? PATHS.column);
  svg.appendChild(path);
  return svg;
}

/** Layers with a mark on the top one: the tab of the side bar. */
export const paimonIcon = new LabIcon({
  name: "paimon-nb:catalog",
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16"><g class="jp-icon3" fill="#616161">' +
    '<path d="M4 4h5v4H4zM11 4h9v4h-9zM4 10h11v4H4zM17 10h3v4h-3zM4 16h16v4H4z"/></g></svg>',
});
