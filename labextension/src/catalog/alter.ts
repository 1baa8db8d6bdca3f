// What changes a table, a view, a tag, a branch, a database: as SQL in a cell, so that the notebook has it. What destroys asks before.
import { Dialog, InputDialog, showDialog } from "@jupyterlab/apputils";
import { Widget } from "@lumino/widgets";
import type { Line } from "./model";
import type { TreeNode } from "./protocol";

export interface Statement {
  label: string;
  /** The SQL; `name` is what the user typed. */
  sql: (name: string) => string;
  /** Whether the cell runs at once. */
  run: boolean;
  /** The question for a name, and what stands in its field. */
  ask?: [question: string, text: string];
  /** What is lost; the user confirms it. */
  loses?: string;
}

const PLAIN = /^[A-Za-z_]\w*$/;
const quoted = (name: string): string => (PLAIN.test(name) ? name : `\`${name.replace(/`/g, "``")}\``);
const literal = (text: string): string => `'${text.replace(/'/g, "''")}'`;

/** The name of a table as the argument of a procedure. */
const argument = ({ path }: TreeNode): string => literal(path.slice(1, 3).map(quoted).join("."));
const call = ({ path }: TreeNode, procedure: string): string => `CALL ${quoted(path[0])}.sys.${procedure}`;

/** The same qualified name with another last part. */
const renamed = (insert: string, name: string): string => insert.replace(/(`(?:[^`]|``)*`|[^.`]+)$/, () => quoted(name));

function ofTable(node: TreeNode, size: string): Statement[] {
  const { insert, label } = node;
  return [
    { label: "Show CREATE TABLE", sql: () => `SHOW CREATE TABLE ${insert}`, run: true },
    { label: "Load a file into it", sql: () => `INSERT INTO ${insert} SELECT * FROM 'FILE.csv'`, run: false },
    { label: "Compact now", sql: () => `${call(node, "compact")}(table => ${argument(node)})`, run: true },
    { label: "New tag …", sql: (name) => `ALTER TABLE ${insert} CREATE TAG ${quoted(name)}`, run: true, ask: [`A tag keeps the table as it is now. Its name:`, ""] },
    { label: "New branch …", sql: (name) => `${call(node, "create_branch")}(table => ${argument(node)}, branch => ${literal(name)})`, run: true, ask: ["A branch is a copy that can be changed apart. Its name:", ""] },
    { label: "Rename …", sql: (name) => `ALTER TABLE ${insert} RENAME TO ${renamed(insert, name)}`, run: true, ask: [`New name of ${label}:`, label] },
    { label: "Drop …", sql: () => `DROP TABLE ${insert}`, run: true, loses: `The table ${label}${size && ` (${size})`} goes, with its history, tags and branches.` },
  ];
}

/** The statements that the menu of a line offers. */
export function statementsOf({ node, parent, facts }: Line): Statement[] {
  const { kind, label, insert, path } = node, table = parent?.parent?.node;
  if (kind === "table") return ofTable(node, facts?.note ?? "");
  if (kind === "view" && path[0]) return [
    { label: "Show CREATE VIEW", sql: () => `SHOW CREATE VIEW ${insert}`, run: true },
    { label: "Drop …", sql: () => `DROP VIEW ${insert}`, run: true, loses: `The view ${label} goes; the tables that it reads stay.` },
  ];
  if (kind === "tag" && table) return [
    { label: "Roll back to it …", sql: () => `${call(table, "rollback")}(table => ${argument(table)}, version => ${literal(label)})`, run: true, loses: `All snapshots of ${table.label} after the tag ${label} go.` },
    { label: "Delete …", sql: () => `ALTER TABLE ${table.insert} DELETE TAG ${quoted(label)}`, run: true, loses: `The tag ${label} goes. Rows that only its snapshot has are lost with it.` },
  ];
  if (kind === "branch" && table) return [
    { label: "Make it the table …", sql: () => `${call(table, "fast_forward")}(table => ${argument(table)}, branch => ${literal(label)})`, run: true, loses: `${table.label} becomes what the branch ${label} is now; its own snapshots since the branch was made go.` },
    { label: "Drop …", sql: () => `${call(table, "delete_branch")}(table => ${argument(table)}, branch => ${literal(label)})`, run: true, loses: `The branch ${label} goes, with what was written to it alone.` },
  ];
  if (kind === "database") return [
    { label: "Drop …", sql: () => `DROP DATABASE ${insert}`, run: true, loses: `The database ${label} goes. With tables in it, the statement is refused.` },
  ];
  if (kind === "catalog") return [
    { label: "New database …", sql: (name) => `CREATE DATABASE ${insert}.${quoted(name)}`, run: true, ask: ["Name of the new database:", ""] },
  ];
  return [];
}

/** The SQL of a statement, once the user has named and confirmed what it needs; "" if not. */
export async function asked(statement: Statement): Promise<string> {
  const title = statement.label.replace(/ …$/, "");
  if (statement.ask) {
    const [label, text] = statement.ask;
    const answer = await InputDialog.getText({ title, label, text, okLabel: title });
    const name = answer.button.accept ? (answer.value ?? "").trim() : "";
    return name && name !== text ? statement.sql(name) : "";
  }
  const sql = statement.sql("");
  if (!statement.loses) return sql;
  const body = new Widget(), text = document.createElement("div"), shown = document.createElement("pre");
  body.addClass("pnb-cat-dialog");
  text.textContent = statement.loses;
  shown.textContent = sql;
  body.node.append(text, shown);
  const answer = await showDialog({ title, body, buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: title })], defaultButton: 0 });
  return answer.button.accept ? sql : "";
}
