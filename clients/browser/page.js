// In the page that is read: finds its text, lights up the sentence that sounds, and shows a bar to pause and stop.

(() => {
  if (globalThis.kokoroLive) return; // it is here already
  globalThis.kokoroLive = true;

  const LEFT_OUT = "nav, aside, footer, form, button, select, textarea, script, style, noscript, svg, math, iframe, template, [hidden], [aria-hidden=true]";
  const LONGEST = 4000; // characters of one request

  let paragraphs = []; // {text, parts: [{node, from, at}]}: at the paragraph's character `at` begins the node's character `from`
  let heard = null; // the sentence that sounded last: its paragraph, and its first and last character
  let bar = null;
  let alive = 0;

  chrome.runtime.onMessage.addListener(({ begin, told }) => {
    if (begin?.again) go();
    else if (begin) start(begin.selection);
    if (told) follow(told);
  });

  const send = (message) => chrome.runtime.sendMessage({ to: "background", ...message });

  function start(selected) {
    const selection = getSelection();
    const marked = selected && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    paragraphs = paragraphsOf(marked ?? article());
    show();
    if (!paragraphs.length) return follow({ state: "idle", error: "There is no text to read on this page." });
    heard = null;
    go();
  }

  /** Have it read, from the sentence on that sounded last. */
  function go() {
    send({ paragraphs: paragraphs.map(({ text }) => text), from: heard?.slice(0, 2) });
  }

  /** {root, has}: the element with the page's article, and whether one in it belongs to the article. */
  function article() {
    const all = [...document.body.querySelectorAll("*")];
    const copy = document.cloneNode(true);
    // Readability changes what it reads: the copy's elements are numbered as the page's are.
    [...copy.body.querySelectorAll("*")].forEach((element, number) => element.setAttribute("data-kokoro-live", number));
    const found = new Readability(copy, { serializer: (element) => element }).parse();
    const kept = [...(found?.content.querySelectorAll("[data-kokoro-live]") ?? [])];
    const elements = new Set(kept.map((element) => all[element.getAttribute("data-kokoro-live")]));
    const heading = document.querySelector("h1"); // which Readability takes for the title, and out of the text
    if (heading) elements.add(heading);
    if (found) return { root: document.body, has: (element) => elements.has(element) };
    return { root: document.querySelector("article, main") ?? document.body, has: (element) => !element.closest(LEFT_OUT) };
  }

  /** The texts of an article, or of a range, by blocks. */
  function paragraphsOf(what) {
    const range = what instanceof Range ? what : null;
    const root = range ? range.commonAncestorContainer : what.root;
    const walker = document.createTreeWalker(root.nodeType === Node.TEXT_NODE ? root.parentNode : root, NodeFilter.SHOW_TEXT);
    const found = [];
    let block = null;
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement;
      if (!parent || parent.closest("script, style, noscript, template") || !parent.checkVisibility()) continue;
      if (range ? !range.intersectsNode(node) : !what.has(blockOf(parent))) continue;
      const from = range?.startContainer === node ? range.startOffset : 0;
      const to = range?.endContainer === node ? range.endOffset : node.length;
      const last = found.at(-1);
      if (block !== blockOf(parent) || last.text.length > LONGEST) found.push({ text: "", parts: [] });
      block = blockOf(parent);
      const { text, parts } = found.at(-1);
      parts.push({ node, from, at: text.length });
      // Characters stay at their places; a line's end in the source is a space on the page.
      found.at(-1).text += node.data.slice(from, to).replace(/\s/g, " ");
    }
    return found.filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  }

  function blockOf(element) {
    while (element.parentElement && getComputedStyle(element).display.startsWith("inline")) element = element.parentElement;
    return element;
  }

  function rangeOf([number, from, to]) {
    const { parts } = paragraphs[number];
    const range = new Range();
    const place = (at) => parts.findLast((part) => part.at <= at);
    const [first, last] = [place(from), place(to - 1)];
    range.setStart(first.node, first.from + from - first.at);
    range.setEnd(last.node, Math.min(last.node.length, last.from + to - last.at));
    return range;
  }

  function follow({ sentence, state, error }) {
    if (sentence) {
      heard = sentence;
      const range = rangeOf(sentence);
      CSS.highlights.set("kokoro-live", new Highlight(range));
      const { top, bottom } = range.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight - 80) range.startContainer.parentElement.scrollIntoView({ block: "center" });
    }
    if (!state) return;
    clearInterval(alive);
    if (state === "idle") {
      CSS.highlights.delete("kokoro-live");
      if (!error) return hide();
    } else {
      alive = setInterval(() => send({}), 10_000); // Firefox ends a background page that hears nothing for 30 s
    }
    show(state, error);
  }

  /** The bar: in a shadow of its own, so that the page's style isn't its style. */
  function show(state = "waiting", error = "") {
    hide();
    bar = document.createElement("kokoro-live-bar");
    const shadow = bar.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = `section { all: initial; position: fixed; z-index: 2147483647; inset: auto auto 1rem 50%; translate: -50%; display: flex; align-items: center;
      gap: .5rem; max-width: calc(100vw - 2rem); padding: .5rem .75rem; border-radius: 1rem; background: #1f1f1c; color: #ece9e2; font: 15px/1.4 system-ui, sans-serif; box-shadow: 0 2px 16px #0006; }
      button { font: inherit; color: inherit; min-height: 2rem; padding: .2rem .8rem; border: 1px solid #7b766b; border-radius: .6rem; background: none; cursor: pointer; }
      :focus-visible { outline: 2px solid #74cfc0; outline-offset: 2px; }`;
    const section = document.createElement("section");
    section.setAttribute("aria-label", "Reading aloud");
    const said = document.createElement("span");
    said.setAttribute("role", error ? "alert" : "status");
    said.textContent = error || { waiting: "Waiting for the speech…", paused: "Paused", playing: "Reading aloud" }[state];
    section.append(said);
    if (state === "playing" || state === "paused") section.append(button(state === "paused" ? "Go on" : "Pause", () => send({ act: { toggle: true } })));
    section.append(error ? button("Close", hide) : button("Stop", () => send({ act: { stop: true } })));
    shadow.append(style, section);
    document.documentElement.append(bar);
  }

  function hide() {
    bar?.remove();
    bar = null;
  }

  function button(text, act) {
    const made = document.createElement("button");
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  }
})();
