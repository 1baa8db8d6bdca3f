// A streaming query: newest rows on top, each with the sign and colour of its kind.
const KIND_OF = { "+I": "come", "-U": "was", "+U": "now", "-D": "gone" };
const KIND_WORDS = { "+I": "new", "-U": "before", "+U": "after", "-D": "deleted" };
const STATES = { RUNNING: "● running", PAUSED: "❚❚ paused", FINISHED: "✓ finished", CANCELED: "■ stopped", FAILED: "✗ failed" };
const SILENT_MS = 12000;

// The kernel sends the state of a running stream at least this often; a longer silence means that the kernel has ended.
function heartbeat(model, onSilence) {
  let last = Date.now();
  model.on("change:view", () => { last = Date.now(); });
  return setInterval(() => { if (["RUNNING", "PAUSED"].includes(model.get("view").status) && Date.now() - last > SILENT_MS) onSilence(); }, 2000);
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "live");
    troubles(host, model);
    const lead = leading(host), note = html(host, "div", { class: "warning lead-note" }), advice = html(note, "span");
    const fix = button(note, "Write a changelog …", () => intoCell(`%%paimon\n${model.get("view").fix}`).then((text) => { done.textContent = text; }), { title: "Insert the ALTER TABLE as a cell" });
    const done = html(note, "span", { "aria-live": "polite" });
    const bar = html(host, "div", { class: "bar" });
    const state = html(bar, "output", { class: "state", role: "status" });
    const pause = button(bar, "Pause", () => model.send({ pause: model.get("view").status === "RUNNING" }));
    const stop = button(bar, "Stop", () => model.send({ stop: true }));
    const place = field(bar, "from snapshot", "", (v) => model.send(v.trim() ? { seek: v } : { seek: null }),
      { size: 6, inputmode: "numeric", placeholder: "newest" });
    const again = button(bar, "Seek", () => model.send(place.value.trim() ? { seek: place.value } : { seek: null }));
    const lag = html(host, "div", { class: "facts", "aria-live": "off" });
    const wrong = html(host, "div");
    const box = html(host, "div", { class: "grid stream", tabindex: 0, role: "region", "aria-label": "rows of the stream, newest first" });
    const more = html(host, "div", { class: "more" });
    let columns = null, body = null, newest = 0;

    const head = (view) => {
      box.replaceChildren();
      const table = html(box, "table"), line = html(html(table, "thead"), "tr");
      html(line, "th", { scope: "col" }, "op");
      view.columns.forEach((c, i) => html(line, "th", { scope: "col", class: view.numbers[i] ? "n" : "" }, c));
      body = html(table, "tbody");
      columns = JSON.stringify(view.columns);
      newest = 0;
    };
    const row = (view, [number, kind, ...values]) => {
      const line = document.createElement("tr");
      line.className = KIND_OF[kind] || "";
      line.dataset.row = number;
      html(line, "td", { class: "op", title: KIND_WORDS[kind] || "" }, kind);
      values.forEach((v, i) => valueCell(line, v, view.numbers[i] ? "n" : ""));
      return line;
    };
    const rows = (view) => {
      if (!view.rows.length) { box.replaceChildren(); columns = null; html(box, "div", { class: "dim" }, view.status === "RUNNING" ? "Waiting for rows …" : "no rows"); return; }
      if (JSON.stringify(view.columns) !== columns) head(view);
      // Only new rows are drawn: existing rows keep their position, selection and screen-reader cursor.
      const fresh = view.rows.filter((r) => r[0] > newest).map((r) => row(view, r));
      body.prepend(...fresh);
      const oldest = view.rows.at(-1)[0];  // after a seek, none of the earlier rows remain; row numbers are never reused
      while (body.lastChild && Number(body.lastChild.dataset.row) < oldest) body.lastChild.remove();
      newest = view.rows[0][0];
    };
    const draw = () => {
      const view = model.get("view"), active = ["RUNNING", "PAUSED"].includes(view.status);
      lead.say(view.lead);
      note.style.display = view.more ? "" : "none";
      explained(advice, view.more || "");
      fix.style.display = view.fix ? "" : "none";
      state.textContent = STATES[view.status] || view.status;
      state.className = `state ${view.status.toLowerCase()}`;
      pause.textContent = view.status === "PAUSED" ? "Resume" : "Pause";
      pause.disabled = !active;
      stop.disabled = !active;
      place.disabled = again.disabled = Boolean(view.fixed);
      place.parentNode.title = again.title = view.fixed || "Restart from this snapshot; empty: from the current state";
      again.textContent = active ? "Seek" : "Restart";
      const kinds = ["+I", "-U", "+U", "-D"].filter((k) => view.counts[k]).map((k) => `${view.counts[k].toLocaleString("en")} ${KIND_WORDS[k]} (${k})`);
      const lags = view.lag.length === 1 ? [view.lag[0].text] : view.lag.map((l) => `${l.table}: ${l.text}`);
      lag.textContent = [kinds.join(", ") || "no rows yet", view.rate, view.waiting ? `${view.waiting.toLocaleString("en")} rows waiting` : "", ...lags].filter(Boolean).join(" · ");
      showMessage(wrong, view.error);
      rows(view);
      more.replaceChildren();
      if (view.total > view.rows.length) html(more, "span", {}, `newest ${view.rows.length} of ${view.total.toLocaleString("en")} rows · `);
      html(more, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
    const beat = heartbeat(model, () => { state.textContent = "✗ no response from the kernel; its streams have ended"; state.className = "state failed"; });
    return () => clearInterval(beat);
  },
};
