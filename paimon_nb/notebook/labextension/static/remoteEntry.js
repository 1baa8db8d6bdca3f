// %%paimon cells get SQL highlighting. A prebuilt extension written by hand: JupyterLab loads it as it is, no build.
(() => {
  let scope;
  const shared = async (name) => (await Object.values(scope[name])[0].get())();
  const OURS = /^\s*%%paimon\b/;
  const PYTHON = new Set(["text/x-ipython", "text/x-python"]);
  const SQL = "text/x-sql";

  // One watcher a cell: the cell's language follows its first line, both ways.
  function watch(model, languages) {
    let python = null;
    const wantsSql = () => OURS.test(model.sharedModel.getSource().slice(0, 200));
    const follow = async () => {
      if (model.isDisposed) return;
      if (wantsSql() && PYTHON.has(model.mimeType)) {
        // Lab applies languages in the order in which their loads finish, so both must be there before the switch.
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

  const plugin = (codemirror) => ({
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

  (window._JUPYTERLAB = window._JUPYTERLAB || {})["paimon-nb"] = {
    init: (given) => { scope = given; },
    get: async (module) => {
      if (module !== "./extension") throw new Error(module);
      const made = plugin(await shared("@jupyterlab/codemirror"));
      return () => ({ default: made, __esModule: true });
    },
  };
})();
