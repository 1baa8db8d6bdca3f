// Streaming jobs: one card, or a list of all jobs, each with a stop button.
const MARKS = { RUNNING: "●", FINISHED: "✓", CANCELED: "■", FAILED: "✗", EXTERNAL: "○" };

function jobLine(host, job, send) {
  const line = html(host, "div", { class: `job ${job.status.toLowerCase()}`, "data-job": job.id });
  html(line, "span", { class: "mark", "aria-hidden": "true" }, MARKS[job.status] || "");
  const details = html(line, "div", { class: "details" });
  html(details, "div", { class: "name" }, job.name);
  const facts = [job.status.toLowerCase(), job.rows === null ? "" : count(job.rows, "row"), job.rate, job.lag].filter(Boolean).join(" · ");
  html(details, "div", { class: "dim" }, facts);
  if (job.facts.length) html(details, "div", { class: "dim facts" }, job.facts.join(" · "));
  for (const [at, newest] of job.share) {
    // Only for a stream that lags behind: its progress through the available snapshots.
    if (job.status === "RUNNING") html(details, "progress", { max: newest, value: at, "aria-label": `${job.name}: snapshot ${at} of ${newest}` });
  }
  if (job.error) html(details, "div", { class: "error", role: "alert" }, "✗ " + job.error);
  html(details, "code", {}, job.id.slice(0, 8));
  if (job.status === "RUNNING") button(line, "Stop", ()  => send({ stop: job.id }), { "aria-label": `Stop ${job.name}`, "data-keep": job.id });
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
      if (!jobs.length) html(list, "div", { class: "dim" }, "No streaming jobs in this session");
      for (const job of jobs) jobLine(list, job, send);
      const running = jobs.filter((j) => j.status === "RUNNING").length;
      if (!card && running > 1) button(html(list, "div", { class: "bar" }), `Stop all ${running}`, () => send({ stop: true }), { "data-keep": "all" });
    });
    model.on("change:view", draw);
    draw();
  },
};
