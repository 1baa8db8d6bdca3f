export default {
  render({ model, el: host }) {
    host.classList.add("pnb");
    troubles(host, model);
    const lead = leading(host);
    const first = lead.act("", () => [worst().cell], false, { title: "Insert the statement as a cell; nothing runs before you run it" });
    const price = html(lead.bar, "span", { class: "dim" });
    const worst = () => model.get("view").findings.find((f) => f.cell);
    reloadButton(lead.bar, model);
    const list = html(host, "div");
    const draw = () => keepingFocus(list, () => {
      const view = model.get("view"), cure = worst();
      lead.say(view.lead);
      first.style.display = cure ? "" : "none";
      first.textContent = cure ? `Fix it: ${cure.fix.match(/sys\.(\w+)/)[1].replaceAll("_", " ")} …` : "";
      price.textContent = cure ? cure.price : "";
      list.replaceChildren();
      html(list, "div", { class: "verdict" }, view.title);
      view.findings.forEach((f, i) => {
        const box = html(list, "div", { class: "finding" }), title = html(box, "div");
        html(title, "b", { class: "grade", style: `color:${f.colour}`, "aria-hidden": "true" }, f.sign);
        html(title, "b", {}, f.what);
        html(title, "span", { class: "dim" }, ` · ${f.grade}`);
        html(box, "div", { class: "detail" }, f.detail);
        if (!f.fix) return;
        const line = html(box, "div", { class: "detail bar" });
        html(line, "code", {}, f.fix);
        if (f === cure) return;  // its button is at the top
        if (f.cell) button(line, "Insert as cell", () => intoCell(f.cell).then((text) => { said.textContent = text; }), { "data-keep": `fix-${i}` });
        if (f.price) html(line, "span", { class: "dim" }, f.price);
        const said = html(line, "span", { role: "status" });
      });
    });
    model.on("change:view", draw);
    draw();
  },
};
