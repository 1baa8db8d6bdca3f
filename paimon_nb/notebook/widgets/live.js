// A streaming query: its newest rows on top, each signed and coloured by its kind.
const KIND_OF = { "+I": "come", "-U": "was", "+U": "now", "-D": "gone" };
const STATES = { RUNNING: "● running", PAUSED: "❚❚ paused", FINISHED: "✓ ended", CANCELED: "■ stopped", FAILED: "✗ failed" };
const SILENT_MS = 12000;

// The kernel tells a running stream's state at least this often; when it says nothing, it is gone and the stream with it.
function heartbeat(model, onSilence) {
  let last = Date.now();
  model.on("change:view", () => { last = Date.now(); });
  return setInterval(() => { if (["RUNNING", "PAUSED"].includes(model.get("view").status) && Date.now() - last > SILENT_MS) onSilence(); }, 2000);
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "live");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" });
    const state = html(bar, "output", { class: "state", role: "status" });
    const pause = button(bar, "pause", () => model.send({ pause: model.get("view").status === "RUNNING" }));
    const stop = button(bar, "stop", () => model.send({ stop: true }));
    const place = field(bar, "from snapshot", "", (v) => model.send(v.trim() ? { seek: v } : { seek: null }),
      { size: 6, inputmode: "numeric", placeholder: "newest" });
    const again = button(bar, "seek", () => model.send(place.value.trim() ? { seek: place.value } : { seek: null }));
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
      html(line, "td", { class: "op" }, kind);
      values.forEach((v, i) => valueCell(line, v, view.numbers[i] ? "n" : ""));
      return line;
    };
    const rows = (view) => {
      if (!view.rows.length) { box.replaceChildren(); columns = null; html(box, "div", { class: "dim" }, view.status === "RUNNING" ? "waiting for rows …" : "no rows"); return; }
      if (JSON.stringify(view.columns) !== columns) head(view);
      // Only what is new is drawn: rows that stay keep their place, their selection, and a screen reader's cursor.
      const fresh = view.rows.filter((r) => r[0] > newest).map((r) => row(view, r));
      body.prepend(...fresh);
      const oldest = view.rows.at(-1)[0];  // a stream that was moved has none of the rows before; numbers never come again
      while (body.lastChild && Number(body.lastChild.dataset.row) < oldest) body.lastChild.remove();
      newest = view.rows[0][0];
    };
    const draw = () => {
      const view = model.get("view"), active = ["RUNNING", "PAUSED"].includes(view.status);
      state.textContent = STATES[view.status] || view.status;
      state.className = `state ${view.status.toLowerCase()}`;
      pause.textContent = view.status === "PAUSED" ? "go on" : "pause";
      pause.disabled = !active;
      stop.disabled = !active;
      place.disabled = again.disabled = Boolean(view.fixed);
      place.parentNode.title = again.title = view.fixed || "begin anew with the changes of this snapshot; empty: with the newest state";
      again.textContent = active ? "seek" : "start again";
      const kinds = ["+I", "-U", "+U", "-D"].filter((k) => view.counts[k]).map((k) => `${view.counts[k].toLocaleString("en")} ${k}`);
      const told = view.lag.length === 1 ? [view.lag[0].text] : view.lag.map((l) => `${l.table}: ${l.text}`);
      lag.textContent = [kinds.join(", ") || "no rows yet", view.rate, view.waiting ? `${view.waiting.toLocaleString("en")} more wait` : "", ...told].filter(Boolean).join(" · ");
      say(wrong, view.error);
      rows(view);
      more.replaceChildren();
      if (view.more) html(more, "span", {}, view.more + " · ");
      if (view.total > view.rows.length) html(more, "span", {}, `the newest ${view.rows.length} of ${view.total.toLocaleString("en")} rows · `);
      html(more, "code", {}, view.sql);
    };
    model.on("change:view", draw);
    draw();
    const beat = heartbeat(model, () => { state.textContent = "✗ the kernel says nothing; its streams end with it"; state.className = "state failed"; });
    return () => clearInterval(beat);
  },
};
