// An input of a notebook. When the kernel has bound its value, the JupyterLab extension runs the cells that use it.
export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "input");
    troubles(host, model);
    const bar = html(host, "div", { class: "bar" }), view = model.get("view"), label = html(bar, "label", { class: "control" });
    html(label, "code", {}, `:${view.name}`);
    const send = (value) => model.send({ value });
    let control;
    if (view.kind === "choice") {
      control = html(label, "select");
      view.choices.forEach((text, i) => html(control, "option", { value: i }, text));
      control.addEventListener("change", () => send(Number(control.value)));
    } else if (view.kind === "slider") {
      control = html(label, "input", { type: "range", min: view.low, max: view.high, step: view.step });
      const shown = html(label, "output");
      const tell = () => { shown.textContent = Number(control.value).toLocaleString("en"); };
      control.addEventListener("input", tell);
      control.addEventListener("change", () => send(Number(control.value)));
      setTimeout(tell);
    } else {
      control = html(label, "input", { type: view.kind });
      control.addEventListener("change", () => { if (view.kind === "text" || control.value) send(control.value); });
      control.addEventListener("keydown", (event) => { event.stopPropagation(); });
    }
    const said = html(bar, "span", { class: "dim", role: "status" });
    const draw = () => { if (focused(control) !== control || view.kind !== "text") control.value = model.get("view").value; };
    model.on("change:view", draw);
    model.on("msg:custom", (message) => {
      if (message.bound !== view.name) return;
      const run = new CustomEvent("paimon-nb:run-cells", { detail: { name: view.name }, bubbles: true, composed: true, cancelable: true });
      said.textContent = host.dispatchEvent(run) ? `Run the cells with :${view.name} again` : "";
    });
    draw();
  },
};
