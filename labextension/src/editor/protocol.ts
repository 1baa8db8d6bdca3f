// The answers of paimon_nb/notebook/editor.py. Offsets count UTF-16 units of the whole cell.

export interface Problem {
  start: number;
  stop: number;
  /** The class of the error that the run would raise. */
  kind: string;
  message: string;
  hint: string;
}

/** Start, stop and kind of a name that was found. */
export type Name = [number, number, "table" | "column" | "procedure"];

export interface Checked {
  problems: Problem[];
  names: Name[];
}

export interface Described {
  title?: string;
  lines?: string[];
  start?: number;
  stop?: number;
}

export interface Formatted {
  /** The whole cell. */
  cell?: string;
  /** Why it stays as it is. */
  refused?: string;
  problems?: Problem[];
}

/** Text, kind, detail and one line of documentation. */
export type Offer = [string, string, string, string];

export interface Completions {
  start?: number;
  stop?: number;
  items: Offer[];
}
