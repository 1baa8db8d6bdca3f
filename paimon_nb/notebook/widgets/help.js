// The commands of %paimon as a table. A click inserts one as a cell; a text finds some.
// Between alternatives a line may break, inside of words not.
function breakable(host, text) {
  text.split(/(?<=\|)/).forEach((part, i) => { if (i) html(host, "wbr"); host.append(part); });
}

export default {
  render({ model, el: host }) {
    host.classList.add("pnb", "home");
    const bar = html(host, "div", { class: "bar" });
    const search = html(bar, "input", { type: "search", placeholder: "find a command", "aria-label": "find a command" });
    const said = html(bar, "output", { role: "status" }, "A click inserts a command as a cell.");
    const body = html(html(html(host, "div", { class: "grid", role: "region", "aria-label": "commands", tabindex: 0 }), "table", { class: "commands", "aria-label": "commands" }), "tbody");
    const draw = () => {
      const text = search.value.toLowerCase();
      body.replaceChildren();
      for (const [command, cell, what] of model.get("commands")) {
        if (text && !`${command} ${what}`.toLowerCase().includes(text)) continue;
        const row = html(body, "tr"), name = html(row, "th", { scope: "row" });
        if (cell) breakable(button(name, "", async () => { said.textContent = await intoCell(cell); }, { title: `Insert a cell: ${cell}` }), command);
        else breakable(html(name, "code", {}, ""), command);
        html(row, "td", { class: "wide" }, what);
      }
      if (!body.children.length) html(html(html(body, "tr"), "td"), "span", { class: "dim" }, "no command contains this text");
    };
    search.addEventListener("input", draw);
    search.addEventListener("keydown", (event) => event.stopPropagation());
    draw();
  },
};
