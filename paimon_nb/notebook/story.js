// Plays the history of a table on a page without a kernel. Each snapshot's picture is in the page; nothing is fetched.
(() => {
  const MILLISECONDS = 1100;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  function enliven(story) {
    const frames = [...story.querySelectorAll(".frame")], last = frames.length - 1;
    const slider = story.querySelector("input"), play = story.querySelector("button"), words = story.querySelector("output");
    let timer = null;
    const show = (index) => {
      const id = frames[index].dataset.snapshot;
      frames.forEach((frame, i) => frame.classList.toggle("shown", i === index));
      story.querySelectorAll(".history circle[data-snapshot]").forEach((mark) => mark.classList.toggle("at", mark.dataset.snapshot === id));
      slider.value = index;
      words.textContent = frames[index].dataset.label;
      slider.setAttribute("aria-valuetext", words.textContent);
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "▶";
      play.setAttribute("aria-label", "Play the history");
      words.setAttribute("aria-live", "polite");
    };
    const start = () => {
      words.setAttribute("aria-live", "off"); // a screen reader would never get to the end of a sentence
      play.textContent = "❚❚";
      play.setAttribute("aria-label", "Pause the history");
      if (Number(slider.value) >= last) show(0);
      timer = setInterval(() => {
        show(Number(slider.value) + 1);
        if (Number(slider.value) >= last) stop();
      }, MILLISECONDS);
    };
    play.addEventListener("click", () => (timer ? stop() : start()));
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    story.querySelector(".history").addEventListener("click", (event) => {
      const index = frames.findIndex((frame) => frame.dataset.snapshot === event.target.dataset.snapshot);
      if (index >= 0) { stop(); show(index); }
    });
    calm.addEventListener("change", () => { if (calm.matches) stop(); });
    stop();
    slider.max = last;
    show(last);
    story.querySelectorAll(".track, .controls").forEach((part) => { part.hidden = false; });

    // The history plays once when the reader gets to it, unless the reader's system asks for less motion.
    let seen = calm.matches;
    const used = () => { seen = true; };
    story.addEventListener("pointerdown", used);
    story.addEventListener("keydown", used);
    const watcher = new IntersectionObserver(([entry]) => {
      if (entry.isIntersecting && !seen) { seen = true; start(); }
      if (!entry.isIntersecting && timer) stop();
    }, { threshold: 0.6 });
    watcher.observe(story);
  }

  document.querySelectorAll(".story").forEach(enliven);
})();
