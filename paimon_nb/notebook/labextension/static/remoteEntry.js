// A prebuilt extension written by hand: JupyterLab and Notebook 7 load it without a build step.
// %%paimon cells get SQL highlighting; a stored widget without a kernel shows its stored picture; panels can insert
// cells; panels of a kernel that is gone say so; the cancel button of a progress line interrupts the kernel.
(() => {
  let scope;
  const shared = async (name) => (await Object.values(scope[name])[0].get())();
  const OURS = /^\s*%%paimon\b/;
  const PYTHON = new Set(["text/x-ipython", "text/x-python"]);
  const SQL = "text/x-sql", VIEW = "application/vnd.jupyter.widget-view+json", STILL = "image/svg+xml";

  // One watcher per cell: the cell's language follows its first line, in both directions.
  function watch(model, languages) {
    let python = null;
    const wantsSql = () => OURS.test(model.sharedModel.getSource().slice(0, 200));
    const follow = async () => {
      if (model.isDisposed) return;
      if (wantsSql() && PYTHON.has(model.mimeType)) {
        // JupyterLab applies languages in the order in which they finish loading, so load both before the switch.
        await Promise.all([languages.getLanguage(model.mimeType), languages.getLanguage(SQL)]);
        if (model.isDisposed || !wantsSql() || !PYTHON.has(model.mimeType)) return;
        python = model.mimeType;
        model.mimeType = SQL;
      } else if (!wantsSql() && python && model.mimeType === SQL) {
        model.mimeType = python;
        python = null;
      }
    };
    const soon = () => queueMicrotask(follow);
    model.sharedModel.changed.connect(soon);
    model.mimeTypeChanged.connect(soon);
    setTimeout(follow, 0);
  }

  const highlight = (codemirror) => ({
    id: "paimon-nb:highlight",
    autoStart: true,
    requires: [codemirror.IEditorExtensionRegistry, codemirror.IEditorLanguageRegistry],
    activate: (app, extensions, languages) => {
      extensions.addExtension(Object.freeze({
        name: "paimon-nb:sql",
        factory: ({ model }) => {
          watch(model, languages);
          return codemirror.EditorExtensionRegistry.createImmutableExtension([]);
        },
      }));
    },
  });

  // Show the stored SVG instead of "model not found". An image runs no scripts, so this is safe for untrusted notebooks.
  function still(node, model) {
    const image = document.createElement("img");
    image.className = "pnb-still";
    image.alt = String(model.data["text/plain"] || "");
    image.style.maxWidth = "100%";
    image.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
    image.src = "data:image/svg+xml," + encodeURIComponent([].concat(model.data[STILL]).join(""));
    node.replaceChildren(image);
  }

  // The stored table of a result grid; JupyterLab's own renderer cleans it unless the notebook is trusted.
  async function stillTable(node, model, rendermime) {
    const table = rendermime.createRenderer("text/html");
    await table.renderModel(model);
    node.replaceChildren(table.node);
  }

  function withStill(rendermime) {
    const live = rendermime.getFactory(VIEW);
    if (!live || live.paimonNb) return;
    rendermime.addFactory({
      safe: live.safe,
      mimeTypes: [VIEW],
      paimonNb: true,
      createRenderer: (options) => {
        const renderer = live.createRenderer(options), render = renderer.renderModel.bind(renderer);
        renderer.renderModel = async (model) => {
          await render(model);
          if (!/model not found/.test(renderer.node.textContent)) return;
          if (model.data[STILL]) still(renderer.node, model);
          else if (model.data["text/html"]) await stillTable(renderer.node, model, rendermime);
        };
        return renderer;
      },
    }, -11);
  }

  const stills = (notebook) => ({
    id: "paimon-nb:stills",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    activate: (app, tracker) => {
      // The widget manager adds its renderer to each notebook before the notebook content is loaded.
      tracker.widgetAdded.connect((_, panel) => {
        withStill(panel.content.rendermime);
        panel.context.ready.then(() => withStill(panel.content.rendermime));
      });
    },
  });

  // Panels of a kernel that is gone say so; the widget manager notices a restart, but not a kernel that dies.
  const GONE = new Set(["restarting", "autorestarting", "terminating", "dead"]);
  const endings = (notebook) => ({
    id: "paimon-nb:endings",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    activate: (app, tracker) => {
      tracker.widgetAdded.connect((_, panel) => {
        panel.sessionContext.statusChanged.connect((_, status) => {
          if (!GONE.has(status)) return;
          for (const node of panel.node.querySelectorAll(".pnb")) node.dispatchEvent(new CustomEvent("paimon-nb:kernel-ended"));
        });
      });
    },
  });

  // Widgets have no access to the notebook: they dispatch an event, which the handler cancels.
  const help = (notebook) => ({
    id: "paimon-nb:help",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    activate: (app, tracker) => {
      document.addEventListener("paimon-nb:insert", (event) => {
        if (!tracker.currentWidget || typeof event.detail.source !== "string") return;
        event.preventDefault();
        app.commands.execute("notebook:insert-cell-below").then(() => {
          tracker.activeCell.model.sharedModel.setSource(event.detail.source);
          // Inspection commands change nothing, so they run at once. Statements wait for the user.
          if (event.detail.run === true && /^%paimon (\w+ [\w.-]+( (--at )?\d+)*|create|jobs|help|doctor)$/.test(event.detail.source)) return app.commands.execute("notebook:run-cell");
          notebook.NotebookActions.focusActiveCell ? notebook.NotebookActions.focusActiveCell(tracker.currentWidget.content) : null;
        });
      });
      const style = document.createElement("style");
      style.textContent = "button.pnb-cancel{display:inline-block !important}";
      document.head.appendChild(style);
      document.addEventListener("click", (event) => {
        const panel = tracker.currentWidget, pressed = event.target.closest && event.target.closest("button.pnb-cancel");
        const session = pressed && panel && panel.node.contains(pressed) && panel.sessionContext.session;
        if (!session || !session.kernel) return;
        pressed.disabled = true;
        session.kernel.interrupt();
      });
    },
  });

  (window._JUPYTERLAB = window._JUPYTERLAB || {})["paimon-nb"] = {
    init: (given) => { scope = given; },
    get: async (module) => {
      if (module !== "./extension") throw new Error(module);
      const notebook = await shared("@jupyterlab/notebook");
      const made = [highlight(await shared("@jupyterlab/codemirror")), stills(notebook), endings(notebook), help(notebook)];
      return () => ({ default: made, __esModule: true });
    },
  };
})();
