// Streaming jobs: one card, or all of them in a list. What ends one is a button beside its name.
const MARKS = { RUNNING: "●", FINISHED: "✓", CANCELED: "■", FAILED: "✗" };

function jobLine(host, job, send) {
  const line = html(host, "div", { class: `job ${job.status.toLowerCase()}`, "data-job": job.id });
  html(line, "span", { class: "mark", "aria-hidden": "true" }, MARKS[job.status] || "");
  const said = html(line, "div", { class: "said" });
  html(said, "div", { class: "name" }, job.name);
  const facts = [job.status.toLowerCase(), count(job.rows, "row"), job.rate, job.lag].filter(Boolean).join(" · ");
  html(said, "div", { class: "dim" }, facts);
  for (const [at, newest] of job.share) {
    // Only of a stream that is behind: how far it is through the snapshots that are there.
    if (job.status === "RUNNING") html(said, "progress", { max: newest, value: at, "aria-label": `${job.name}: snapshot ${at} of ${newest}` });
  }
  if (job.error) html(said, "div", { class: "error", role: "alert" }, "✗ " + job.error);
  html(said, "code", {}, job.id.slice(0, 8));
  if (job.status === "RUNNING") button(line, "stop", () => send({ stop: job.id }), { "aria-label": `stop ${job.name}`, "data-keep": job.id });
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "jobs");
    troubles(host, model);
    const list = html(host, "div");
    const send = (message) => model.send(message);
    const draw = () => keepingFocus(list, () => {
      const { jobs, card } = model.get("view");
      list.replaceChildren();
      if (!jobs.length) html(list, "div", { class: "dim" }, "no streams in this session");
      for (const job of jobs) jobLine(list, job, send);
      const running = jobs.filter((j) => j.status === "RUNNING").length;
      if (!card && running > 1) button(html(list, "div", { class: "bar" }), `stop all ${running}`, () => send({ stop: true }), { "data-keep": "all" });
    });
    model.on("change:view", draw);
    draw();
  },
};
