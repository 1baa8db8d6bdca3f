// Which cells are SQL.

/** Empty lines and other magics, then the line of %%paimon, as paimon_nb/notebook/editor.py reads it. */
const HEAD = /^(?:[^\S\n]*\n|[^\S\n]*%(?!%?paimon\b)[^\n]*\n)*[^\S\n]*%%paimon\b/;
const HEAD_LENGTH = 2000;

/** Whether the text of a cell is SQL for %%paimon. */
export const isSqlCell = (source: string): boolean => source.includes("%%paimon") && HEAD.test(source.slice(0, HEAD_LENGTH));
