// A file that was chosen or dropped, as paragraphs: text, Markdown and HTML are read here, other kinds by the server.

import { ApiError, ask } from "./api.js";
import { small } from "./cover.js";
import { html } from "./html.js";
import { markdown } from "./markdown.js";
import { paragraphsOf } from "./text.js";
import { t } from "./words.js";

const MOST = 8_000_000; // bytes

const OTHERS = /\.(epub|pdf|docx|odt|srt|vtt)$/i;

/**
 * @param {File} file
 * @returns {Promise<{title: string, author?: string, cover?: string, paragraphs: {kind: string, text: string}[]}>}
 * @throws {ApiError} it can't be read, or has no text
 */
export async function openFile(file) {
  const name = file.name.replace(/\.[^.]*$/, "");
  if (OTHERS.test(file.name)) return await readThere(file);
  if (file.size > MOST) throw new ApiError(t("{name} is longer than {most} MB.", { name: file.name, most: MOST / 1e6 }));
  const bytes = new Uint8Array(await file.arrayBuffer());
  // UTF-16 is the only text with zeros in it, and has a mark at its beginning.
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (bytes.includes(0) && !wide) {
    throw new ApiError(t("{name} can't be read: this opens text, Markdown, HTML, EPUB, PDF, Word (docx), OpenDocument (odt) and captions (srt, vtt).", { name: file.name }));
  }
  const { title, paragraphs } = read(file.name, decoded(bytes));
  if (!paragraphs.length) throw new ApiError(t("{name} has no text.", { name: file.name }));
  return { title: title || paragraphs.find(({ kind }) => kind === "h")?.text || name, paragraphs: paragraphs.flatMap(({ kind, text }) => paragraphsOf(text, kind)) };
}

/** The text of the web page at an address, as `openFile` gives a file's. */
export const openAddress = (address) => asked({ address }, { method: "POST" });

const readThere = (file) => asked({ name: file.name }, { body: file });

async function asked(query, options) {
  const found = await ask(`v1/documents?${new URLSearchParams(query)}`, { ...options, patient: true });
  const { title, author, cover, paragraphs } = await found.json();
  return { title, author, cover: cover && (await small(cover)), paragraphs: paragraphs.flatMap(({ kind, text }) => paragraphsOf(text, kind)) };
}

function read(name, source) {
  if (/\.x?html?$/i.test(name)) return html(source);
  const paragraphs = /\.(md|markdown)$/i.test(name) ? markdown(source) : paragraphsOf(source.replace(/\r\n?/g, "\n"));
  return { title: "", paragraphs };
}

/** Files without a mark are UTF-8, or else name their encoding, or are in the one that old files mostly have. */
function decoded(bytes) {
  const mark = bytes[0] === 0xff ? "utf-16le" : bytes[0] === 0xfe ? "utf-16be" : null;
  if (mark) return new TextDecoder(mark).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
    const named = /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1] ?? "windows-1252";
    return new TextDecoder(named).decode(bytes);
  }
}
