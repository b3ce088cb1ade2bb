// Paragraphs of an HTML page: its text, without what is not meant to be read.

const LEFT_OUT = "script, style, noscript, template, svg, math, nav, footer, aside, form, button, select, iframe, [hidden], [aria-hidden=true]";

const KINDS = { H1: "h", H2: "h", H3: "h", H4: "h", H5: "h", H6: "h", LI: "li", DT: "li", DD: "li", BLOCKQUOTE: "quote", PRE: "code" };

const BLOCKS = new Set(
  "ADDRESS ARTICLE BODY CAPTION DETAILS DIV DL FIGCAPTION FIGURE HEADER HR MAIN OL P SECTION SUMMARY TABLE TBODY THEAD TR UL"
    .split(" ")
    .concat(Object.keys(KINDS)),
);

/** @returns {{title: string, paragraphs: {kind: string, text: string}[]}} */
export function html(source) {
  const page = new DOMParser().parseFromString(source, "text/html");
  for (const element of page.querySelectorAll(LEFT_OUT)) element.remove();
  for (const cell of page.querySelectorAll("table:has(tr:first-child > th ~ th ~ th) td")) {
    const heading = cell.closest("table").rows[0].cells[cell.cellIndex];
    if (cell.cellIndex && heading?.matches("th:not(:empty)") && cell.textContent.trim()) cell.prepend(`${heading.textContent.trim()}: `);
  }
  const root = page.querySelector("article") ?? page.querySelector("main") ?? page.body;
  const paragraphs = [];
  let open = null;
  const walk = (node, kind, code) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = code ? node.data : node.data.replace(/\s+/g, " ");
      if (open) open.text += text;
      else if (text.trim()) paragraphs.push((open = { kind, text }));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    if (node.tagName === "BR") {
      if (open) open.text += "\n";
      return;
    }
    const block = BLOCKS.has(node.tagName);
    if (block) open = null;
    else if (open && /^T[DH]$/.test(node.tagName) && node.textContent.trim()) open.text += ", ";
    const inner = KINDS[node.tagName] ?? kind;
    for (const child of node.childNodes) walk(child, inner, code || node.tagName === "PRE");
    if (block) open = null;
  };
  walk(root, "p", false);
  const trimmed = paragraphs.map(({ kind, text }) => ({ kind, text: text.replace(/[^\S\n]*\n[^\S\n]*/g, "\n").trim() }));
  return { title: page.title.trim(), paragraphs: trimmed.filter(({ text }) => text) };
}
