// The SQL of both dialects, for highlighting: keywords, types, functions and table options. The kernel is not asked.
import { LanguageSupport, StreamLanguage, type StreamParser, type StringStream } from "@codemirror/language";
import type { IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import words from "./words.json";

export const SQL_MIME = "text/x-paimon-sql";

const KEYWORDS = new Set(words.keywords), TYPES = new Set(words.types), FUNCTIONS = new Set(words.functions), OPTIONS = new Set(words.options);

interface State {
  /** Whether the line of %%paimon is still to come. */
  head: boolean;
  /** What is open at the end of the line: a quote, a comment, nothing. */
  open: "" | "'" | '"' | "`" | "*" | "+";
  afterDot: boolean;
}

/** The rest of a quoted text; returns whether it ends on this line. */
function quoted(stream: StringStream, quote: string): boolean {
  for (let c = stream.next(); c !== undefined; c = stream.next()) {
    if (c === "\\" && quote !== "`") stream.next();
    else if (c === quote && !stream.eat(quote)) return true;
  }
  return false;
}

function comment(stream: StringStream, state: State): string {
  const style = state.open === "+" ? "meta" : "comment";
  state.open = stream.skipTo("*/") ? (stream.match("*/"), "") : (stream.skipToEnd(), state.open);
  return style;
}

const STYLES: Record<string, string> = { "'": "string", '"': "string", "`": "variableName.special" };

function text(stream: StringStream, state: State, quote: "'" | '"' | "`", started: boolean): string {
  const ends = quoted(stream, quote);
  state.open = ends ? "" : quote;
  if (started && ends && OPTIONS.has(stream.current().slice(1, -1)) && stream.match(/^\s*=/, false)) return "attributeName";
  return STYLES[quote];
}

function word(stream: StringStream, afterDot: boolean): string {
  stream.match(/^[\p{L}\p{N}_$]*/u);
  const found = stream.current(), upper = found.toUpperCase();
  if (afterDot || stream.match(/^\./, false)) return "variableName";
  if (stream.match(/^\s*\(/, false) && FUNCTIONS.has(found.toLowerCase())) return "variableName.standard";
  if (TYPES.has(upper)) return "variableName.standard";
  if (upper === "TRUE" || upper === "FALSE" || upper === "NULL") return "atom";
  return KEYWORDS.has(upper) ? "keyword" : "variableName";
}

function token(stream: StringStream, state: State): string | null {
  if (state.open === "*" || state.open === "+") return comment(stream, state);
  if (state.open) return text(stream, state, state.open, false);
  if (state.head && stream.sol() && stream.match(/^\s*%.*/)) {
    state.head = !/%%paimon\b/.test(stream.current());
    return "meta";
  }
  if (stream.eatSpace()) return null;
  const afterDot = state.afterDot;
  state.afterDot = false;
  if (stream.match("--")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.open = stream.eat("+") ? "+" : "*";
    return comment(stream, state);
  }
  const quote = stream.match(/^[rRxX]?(?=['"])/) ? stream.next() : stream.eat("`");
  if (quote) return text(stream, state, quote as "'", true);
  if (stream.match(/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}_$])[LlSsYyDdFf]?/u)) return "number";
  if (stream.match(/^::|^=>|^->/)) return "operator";
  if (stream.match(/^:[\p{L}_][\p{L}\p{N}_]*/u)) return "atom";
  if (stream.match(/^[\p{L}\p{N}_]/u)) return word(stream, afterDot);
  const c = stream.next();
  state.afterDot = c === ".";
  return c && "+-*/%=<>!|&^~".includes(c) ? "operator" : c && "()[]{},;.".includes(c) ? "punctuation" : null;
}

const parser: StreamParser<State> = {
  name: "paimon-sql",
  startState: () => ({ head: true, open: "", afterDot: false }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "'", '"', "`"] } },
};

/** Make the language known to JupyterLab. */
export function addLanguage(languages: IEditorLanguageRegistry): void {
  if (languages.findByMIME(SQL_MIME)) return;
  languages.addLanguage({
    name: "paimon-sql", displayName: "SQL (Paimon)", mime: SQL_MIME, load: async () => new LanguageSupport(StreamLanguage.define(parser)),
  });
}
