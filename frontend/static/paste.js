// What is pasted from a web page or a document, with its headings, lists, tables and code: as Markdown.

import { written } from "./markdown.js";

const STRUCTURE = "h1, h2, h3, h4, h5, h6, li, table, pre, blockquote, p + p";

/** @param {HTMLTextAreaElement} field */
export function takePastes(field) {
  field.addEventListener("paste", async (event) => {
    const source = event.clipboardData.getData("text/html");
    if (!source || !new DOMParser().parseFromString(source, "text/html").querySelector(STRUCTURE)) return;
    event.preventDefault();
    const plain = event.clipboardData.getData("text/plain");
    const { html } = await import("./html.js");
    const text = written(html(source).paragraphs) || plain;
    // The only way of writing into a field that Undo takes back.
    if (!document.execCommand("insertText", false, text)) field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  });
}
