// The sentence at the top of a panel, with the words of storage explained where they stand, and the thing to do below it.
const A = "#E69F00", B = "#56B4E9", C = "#009E73", D = "#0072B2";

// What a word means, and a picture of rectangles [x, y, width, height, colour] in 150 x 46 units.
const TERMS = {
  "sorted run": ["Files with rows in the order of the key, without overlaps. A write adds one; a read merges all of them.", [[4, 4, 92, 9, A], [40, 18, 106, 9, A], [4, 32, 142, 9, D]]],
  "compact": ["Merging several files into fewer: reads open less, and versions of rows that newer ones replaced are gone.", [[4, 4, 50, 9, A], [4, 18, 40, 9, A], [4, 32, 56, 9, D], [76, 14, 70, 17, D]]],
  "stored version": ["A key that was written three times has three, until a compaction merges them into one row.", [[4, 4, 60, 9, A], [4, 18, 60, 9, B], [4, 32, 60, 9, D], [86, 18, 60, 9, C]]],
  "snapshot": ["The whole table after one commit. Earlier ones stay readable until they expire.", [[4, 26, 30, 16, C], [42, 20, 30, 22, C], [80, 12, 30, 30, C], [118, 4, 28, 38, C]]],
  "bucket": ["A part of a partition, chosen by the hash of the key. Each is written, merged and read by itself.", [[4, 6, 30, 34, B], [42, 6, 30, 34, B], [80, 6, 30, 34, B], [118, 6, 28, 34, B]]],
  "partition": ["All rows with one value of a column, such as a day, in a folder of their own. A condition on that column skips the other folders.", [[4, 4, 44, 38, A], [53, 4, 44, 38, B], [102, 4, 44, 38, C]]],
  "manifest": ["A list of data files, with the smallest and largest values in them.", [[4, 4, 34, 38, B], [60, 4, 86, 9, D], [60, 18, 86, 9, D], [60, 32, 86, 9, D]]],
  "changelog": ["Old and new values of each change, written beside the table for who follows it.", [[4, 6, 66, 12, A], [4, 26, 66, 12, C], [84, 16, 62, 12, D]]],
  "key range": ["The smallest and the largest key of a file. A condition outside of it skips the file.", [[4, 4, 60, 9, A], [50, 18, 50, 9, A], [104, 32, 42, 9, A]]],
  "statistics": ["The smallest and the largest value of each column of a file. A condition outside of them skips the file.", [[4, 4, 60, 9, A], [50, 18, 50, 9, A], [104, 32, 42, 9, A]]],
};
const TERM = new RegExp(`\\b(?:${Object.keys(TERMS).join("|")})(?:s|s's|ing|ed|ion|ions)?\\b`, "gi");

// A word with its meaning on hover, on focus and on a click.
function term(parent, word, [meaning, shapes]) {
  const made = html(parent, "button", { type: "button", class: "term", "aria-expanded": "false" }, word);
  let card = null;
  const hide = () => { card?.remove(); card = null; made.setAttribute("aria-expanded", "false"); made.removeAttribute("aria-describedby"); };
  const show = () => {
    if (card) return;
    card = html(parent, "span", { class: "term-card", role: "tooltip", id: `term-${Math.random().toString(36).slice(2)}` });
    const svg = el(card, "svg", { viewBox: "0 0 150 46", width: 150, height: 46, "aria-hidden": "true" });
    for (const [x, y, width, height, fill] of shapes) el(svg, "rect", { x, y, width, height, rx: 2, fill });
    html(card, "span", {}, meaning);
    card.style.left = `${Math.max(0, Math.min(made.offsetLeft, parent.clientWidth - card.offsetWidth))}px`;
    card.style.top = `${made.offsetTop + made.offsetHeight + 4}px`;
    made.setAttribute("aria-describedby", card.id);
    made.setAttribute("aria-expanded", "true");
  };
  for (const event of ["mouseenter", "focus", "click"]) made.addEventListener(event, show);
  for (const event of ["mouseleave", "blur"]) made.addEventListener(event, hide);
  made.addEventListener("keydown", (event) => { if (event.key === "Escape" && card) { event.stopPropagation(); hide(); } });
}

// Text whose terms are explained, each where it stands first.
function explained(parent, text) {
  if (parent.dataset.text === text) return;  // the reader's focus and open card stay
  parent.dataset.text = text;
  parent.replaceChildren();
  const seen = new Set();
  let at = 0;
  for (const found of text.matchAll(TERM)) {
    const name = Object.keys(TERMS).find((t) => found[0].toLowerCase().startsWith(t));
    if (seen.has(name)) continue;
    seen.add(name);
    parent.append(text.slice(at, found.index));
    term(parent, found[0], TERMS[name]);
    at = found.index + found[0].length;
  }
  parent.append(text.slice(at));
}

// The lead of a panel: `say(text)`, and a bar for its buttons with a line that tells what a button did.
function leading(host) {
  const line = html(host, "div", { class: "lead", "aria-live": "polite" }), bar = html(host, "div", { class: "bar" });
  const said = html(bar, "span", { "aria-live": "polite" });
  const act = (label, source, run, attributes) => {
    const made = button(bar, label, () => { const [text, runs] = source(); intoCell(text, runs ?? run).then((done) => { said.textContent = done; }); }, attributes);
    said.before(made);
    return made;
  };
  return { line, bar, act, say: (text) => explained(line, text || "") };
}
