// Paragraphs of a Markdown text: what is read aloud of it, without its signs.

const FENCE = /^\s{0,3}(```|~~~)/;
const HEADING = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/;
const UNDERLINE = /^\s{0,3}(=+|-{2,})\s*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const ROW = /^\s*\|/; // rows of a table are lines, other lines are wrapped
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$/;

const SIGNED = [FENCE, HEADING, ITEM, QUOTE, TABLE_RULE, /(\*\*|__)(?=\S).*\S\1/, /\[[^\]]+\]\((https?:|\.{0,2}\/|#)[^)]*\)/];

/** Whether a text is written in Markdown: some line has a sign of it. */
export function isMarkdown(source) {
  return source.split("\n", 2000).some((line) => SIGNED.some((sign) => sign.test(line)));
}

const SIGNS = { chapter: "# ", h: "## ", li: "- ", quote: "> " };

/** Paragraphs as Markdown, to be edited. */
export function written(paragraphs) {
  const signed = ({ kind, text }) => (kind === "code" ? `\`\`\`\n${text}\n\`\`\`` : (SIGNS[kind] ?? "") + text);
  return paragraphs.map((each, place) => (place ? (each.kind === "li" && paragraphs[place - 1].kind === "li" ? "\n" : "\n\n") : "") + signed(each)).join("");
}

/** @returns {{kind: string, text: string}[]} */
export function markdown(source) {
  const found = [];
  let open = null; // the paragraph that the next line may continue
  let fence = null;
  const add = (kind, text) => {
    if (open?.kind === kind && (kind === "code" || kind === "quote")) open.text += `${kind === "code" ? "\n" : " "}${text}`;
    else found.push((open = { kind, text }));
  };
  for (const line of withoutHead(source).split(/\r\n?|\n/)) {
    const marker = FENCE.exec(line)?.[1];
    if (fence ? marker === fence : marker) {
      fence = fence ? null : marker;
      open = null;
    } else if (fence) add("code", line);
    else if (TABLE_RULE.test(line)) {
      if (open) open.headed = true; // its first line has the columns' headings
    }
    else if (!line.trim()) open = null;
    else if (open?.kind === "p" && UNDERLINE.test(line)) {
      open.kind = "h";
      open = null;
    } else if (RULE.test(line)) open = null;
    else if (HEADING.test(line)) {
      add("h", HEADING.exec(line)[1]);
      open = null;
    } else if (QUOTE.test(line)) add("quote", QUOTE.exec(line)[1]);
    else if (ITEM.test(line)) add("li", ITEM.exec(line)[1]);
    else if (open && open.kind !== "code") open.text += `${ROW.test(line) ? "\n" : " "}${line.trim()}`;
    else add("p", line.trim());
  }
  return found
    .map(({ kind, text, headed }) => ({ kind, text: kind === "code" ? text : plain(text, headed) }))
    .filter(({ text }) => text.trim());
}

/** Without the YAML at a document's head. */
function withoutHead(source) {
  return source.replace(/^\uFEFF?---\r?\n[^]*?\r?\n---\r?\n/, "");
}

/** @param {boolean} headed its first line has the headings of a table's columns */
function plain(text, headed) {
  let headings = headed ? null : [];
  // A row's cells, each but the first after its heading, as `text/normalization/markdown.py` has them.
  const row = (cells) => {
    const named = headings?.length > 2;
    headings ??= cells;
    return cells.map((cell, at) => (named && at && cell && headings[at] ? `${headings[at]}: ${cell}` : cell)).filter(Boolean).join(", ");
  };
  return text
    .replace(/<!--[^]*?-->/g, "")
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/^\s*\[[^\]]+\]:\s+\S+.*$/gm, "")
    .replace(/<(https?:[^>\s]+)>/g, "$1")
    .replace(/<\/?[a-z][^>]*>/gi, "")
    .replace(/(\*\*|__|~~)(?=\S)([^]*?\S)\1/g, "$2")
    .replace(/(^|[^\w*])\*(?=\S)([^*]*?\S)\*(?!\w)/g, "$1$2")
    .replace(/(^|[^\w_])_(?=\S)([^_]*?\S)_(?!\w)/g, "$1$2")
    .replace(/(`+)([^]*?[^`])\1(?!`)/g, "$2")
    .replace(/^\s*\|(.*)\|\s*$/gm, (_, cells) => row(cells.split("|").map((cell) => cell.trim())))
    .replace(/\\([\\`*_{}[\]()#+.!>~|-])/g, "$1");
}
