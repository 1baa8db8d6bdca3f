// The rows of a result grid: pages of texts from the kernel, kept up to a limit, and columns with their positions.
const BLOCK_ROWS = 64, BLOCK_COLUMNS = 16, MAX_BLOCKS = 400, ANSWER_MS = 8000;
const decoder = new TextDecoder();

// An Arrow string array as its three buffers: validity, offsets, bytes. Decoded cell by cell.
function arrowTexts([valid, offsets, data]) {
  const at = new Int32Array(offsets.buffer.slice(offsets.byteOffset, offsets.byteOffset + offsets.byteLength));
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return (i) => (valid.byteLength && !((valid.getUint8(i >> 3) >> (i & 7)) & 1) ? null : decoder.decode(bytes.subarray(at[i], at[i + 1])));
}

class Pages {
  constructor(model, onArrival, onSilence) {
    this.model = model;
    this.kept = new Map();
    this.asked = new Map();
    this.onArrival = onArrival;
    this.onSilence = onSilence;
    this.keep({ ...model.get("first_page"), generation: model.get("state").generation }, model.get("first_buffers"));
  }

  key(row, column) { return `${this.model.get("state").generation}/${row}/${column}`; }

  keep(page, buffers) {
    if (!buffers || buffers.length < 3) return;
    const key = `${page.generation}/${page.row}/${page.column}`;
    this.asked.delete(key);
    this.kept.delete(key);
    this.kept.set(key, { rows: page.rows, text: arrowTexts(buffers) });
    while (this.kept.size > MAX_BLOCKS) this.kept.delete(this.kept.keys().next().value);
  }

  // undefined: not here yet.
  text(row, column) {
    const page = this.kept.get(this.key(row - (row % BLOCK_ROWS), column - (column % BLOCK_COLUMNS)));
    const inside = row % BLOCK_ROWS;
    return page && inside < page.rows ? page.text((column % BLOCK_COLUMNS) * page.rows + inside) : undefined;
  }

  // Ask for the pages of rows [from, to) of these columns that are not here.
  want(from, to, columns) {
    const total = this.model.get("state").shown, blocks = [];
    const groups = new Set(columns.map((c) => c - (c % BLOCK_COLUMNS)));
    for (let row = Math.max(0, from - (from % BLOCK_ROWS)); row < Math.min(to, total); row += BLOCK_ROWS) {
      for (const column of groups) {
        const key = this.key(row, column);
        if (this.kept.has(key) || this.asked.has(key)) continue;
        this.asked.set(key, Date.now());
        blocks.push([row, column]);
      }
    }
    if (!blocks.length) return;
    try { this.model.send({ pages: blocks.slice(0, 32), generation: this.model.get("state").generation }); }
    catch (error) { this.onSilence(); }  // the connection to the kernel is closed
  }

  heard(message, buffers) {
    let start = 0;
    for (const page of message.pages) { this.keep(page, buffers.slice(start, start + 3)); start += 3; }
    this.onArrival();
  }

  // Requests without an answer: the kernel is busy, or it has ended.
  check() {
    const now = Date.now(), old = [...this.asked.entries()].filter(([, at]) => now - at > ANSWER_MS);
    for (const [key] of old) this.asked.delete(key);
    if (old.length) this.onSilence();
  }
}

// Columns in the order on the page: pinned ones first. `x` counts from the left of their group.
class Columns {
  constructor(all) {
    this.all = all;
    this.hidden = new Set();
    this.pinned = [];
    this.widths = all.map((c) => c.width);
    this.layout();
  }

  layout() {
    const others = this.all.map((_, i) => i).filter((i) => !this.hidden.has(i) && !this.pinned.includes(i));
    this.order = [...this.pinned, ...others];
    this.x = [];
    let at = 0;
    this.order.forEach((column, i) => {
      this.x.push(at);
      at += this.widths[column];
      if (i === this.pinned.length - 1) this.fixed = at;
    });
    if (!this.pinned.length) this.fixed = 0;
    this.width = at;
  }

  // Positions of the columns that are on the page: pinned ones, and those between both edges.
  between(left, right) {
    const out = this.pinned.map((_, i) => i), n = this.order.length;
    let low = this.pinned.length, high = n;
    while (low < high) { const middle = (low + high) >> 1; if (this.x[middle] + this.widths[this.order[middle]] <= left + this.fixed) low = middle + 1; else high = middle; }
    for (let i = low; i < n && this.x[i] < right; i++) out.push(i);
    return out;
  }

  hide(column) { if (this.order.length > 1) this.hidden.add(column); this.pinned = this.pinned.filter((c) => c !== column); this.layout(); }
  show(column) { this.hidden.delete(column); this.layout(); }
  pin(column, on) { this.pinned = on ? [...this.pinned, column] : this.pinned.filter((c) => c !== column); this.layout(); }
}
