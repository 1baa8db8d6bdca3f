// The search runs in a worker, which browsers refuse to a page that was opened from a file. There it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow, script = frame.contentDocument.createElement("script");
      inside.postMessage = (data) => setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      script.src = url;
      script.onload = () => {
        this.send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
        for (const data of this.waiting) this.send(data);
      };
      script.onerror = () => this.dispatchEvent(new ErrorEvent("error", { message: `${url} is not there` }));
      frame.contentDocument.head.append(script);
    }
    postMessage(data) {
      if (this.send) this.send(data);
      else this.waiting.push(data);
    }
  };
}
