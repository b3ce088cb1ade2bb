// Texts that were read, kept in this browser (IndexedDB) until they are deleted.

import { orderOf } from "./marks.js";

import { settings } from "./settings.js";

const MOST = 40; // texts

/** @typedef {{id: string, title: string, author?: string, cover?: string, paragraphs: {kind: string, text: string}[], place: {line: number,
 *   offset: number} | {seconds: number}, part: number, at: number, marks?: import("./marks.js").Mark[]}} Entry `id`: `idOf` its
 *   paragraphs, or a finished book's job, whose place is in seconds; `part`: how much was read, 0 to 1; `at`: when, in ms since 1970;
 *   `gone`: it was deleted, which the server and other devices must hear of */

/** All that is kept, the latest first. @returns {Promise<Entry[]>} */
export async function kept() {
  return (await all()).filter(({ gone }) => !gone).sort((one, other) => other.at - one.at);
}

/** All that is kept, and what was deleted since texts are shared. @returns {Promise<Entry[]>} */
export function all() {
  return ask("readonly", (texts) => texts.getAll());
}

/** What is kept under an id, if anything. @returns {Promise<Entry | undefined>} */
export async function find(id) {
  const found = await ask("readonly", (texts) => texts.get(id));
  return found?.gone ? undefined : found;
}

/** Keep a text, in place of what is kept under its id. The oldest of too many go, but none with bookmarks. @param {Entry} entry */
export async function keep(entry) {
  await ask("readwrite", (texts) => texts.put(entry));
  const plain = (await kept()).filter(({ marks }) => !marks?.some(({ gone }) => !gone));
  for (const { id } of plain.slice(MOST)) await forget(id);
}

/** One text out of two of the same id: the newer place, and of each bookmark the newer. It is newer than both if it is neither. */
export function merged(one, other) {
  const [newer, older] = one.at >= other.at ? [one, other] : [other, one];
  if (newer.gone) return newer;
  const marks = [...(older.marks ?? []), ...(newer.marks ?? [])].sort((a, b) => a.at - b.at);
  const both = inOrder(new Map(marks.map((mark) => [orderOf(mark), mark])).values());
  const same = JSON.stringify(both) === JSON.stringify(inOrder(newer.marks ?? []));
  return { ...newer, marks: both, at: same ? newer.at : newer.at + 1 };
}

const inOrder = (marks) => [...marks].sort((one, other) => orderOf(one) - orderOf(other));

/** All that is kept, as a file. @returns {Promise<Blob>} */
export async function exported() {
  return new Blob([JSON.stringify({ kokoro_live_library: 1, texts: await kept() })], { type: "application/json" });
}

/** Keep the texts of such a file; a newer place of the same text stays, and bookmarks come together. @throws {Error} it is another file */
export async function imported(file) {
  const { kokoro_live_library: version, texts } = JSON.parse(await file.text());
  const areStrings = (...all) => all.every((each) => typeof each === "string");
  const isMark = ({ place, words, note, at }) => areStrings(words, note) && typeof at === "number" && typeof place === "object" && place;
  const isText = ({ id, title, cover = "", paragraphs, at, marks = [] }) =>
    areStrings(id, title, cover, ...paragraphs.map(({ text }) => text)) && typeof at === "number" && marks.every(isMark);
  if (version !== 1 || !texts.every(isText)) throw new Error();
  const known = new Map((await all()).map((entry) => [entry.id, entry]));
  for (const entry of texts) {
    const mine = known.get(entry.id);
    await keep(mine?.gone ? { ...entry, at: Date.now() } : mine ? merged(mine, entry) : entry);
  }
}

/** Delete a text. */
export function forget(id) {
  const gone = { id, title: "", paragraphs: [], place: { line: 0, offset: 0 }, part: 0, at: Date.now(), gone: true };
  return ask("readwrite", (texts) => (settings.share ? texts.put(gone) : texts.delete(id)));
}

/** Delete all. */
export async function forgetAll() {
  for (const { id } of await kept()) await forget(id);
}

/** The same texts have the same id (cyrb53, public domain: web crypto needs a secure context). */
export function idOf(paragraphs) {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (const { text } of paragraphs) {
    for (let place = 0; place < text.length; place += 1) {
      one = Math.imul(one ^ text.charCodeAt(place), 2654435761);
      other = Math.imul(other ^ text.charCodeAt(place), 1597334677);
    }
  }
  return `${(one >>> 0).toString(16)}-${(other >>> 0).toString(16)}`;
}

let opened = null;

function open() {
  opened ??= new Promise((resolve, reject) => {
    const asking = indexedDB.open("kokoro-live", 1);
    asking.onupgradeneeded = () => asking.result.createObjectStore("texts", { keyPath: "id" });
    asking.onsuccess = () => resolve(asking.result);
    asking.onerror = () => reject(asking.error);
  });
  return opened;
}

async function ask(mode, what) {
  const database = await open();
  return await new Promise((resolve, reject) => {
    const asking = what(database.transaction("texts", mode).objectStore("texts"));
    asking.onsuccess = () => resolve(asking.result);
    asking.onerror = () => reject(asking.error);
  });
}
