// Texts that were read, kept in this browser (IndexedDB) until they are deleted.

const MOST = 40; // texts

/** @typedef {{id: string, title: string, paragraphs: {kind: string, text: string}[], place: {line: number,
 *   offset: number}, part: number, at: number}} Entry `part`: how much was read, 0 to 1; `at`: when, in ms since 1970 */

/** All that is kept, the latest first. @returns {Promise<Entry[]>} */
export async function kept() {
  const all = await ask("readonly", (texts) => texts.getAll());
  return all.sort((one, other) => other.at - one.at);
}

/** Keep a text, in place of what is kept under its id. The oldest of too many go. @param {Entry} entry */
export async function keep(entry) {
  await ask("readwrite", (texts) => texts.put(entry));
  for (const { id } of (await kept()).slice(MOST)) await forget(id);
}

/** All that is kept, as a file. @returns {Promise<Blob>} */
export async function exported() {
  return new Blob([JSON.stringify({ kokoro_live_library: 1, texts: await kept() })], { type: "application/json" });
}

/** Keep the texts of such a file; a newer place of the same text stays. @throws {Error} it is another file */
export async function imported(file) {
  const { kokoro_live_library: version, texts } = JSON.parse(await file.text());
  const isText = ({ id, title, paragraphs, at }) =>
    [id, title].every((each) => typeof each === "string") && Array.isArray(paragraphs) && typeof at === "number" && paragraphs.every(({ text }) => typeof text === "string");
  if (version !== 1 || !texts.every(isText)) throw new Error();
  const known = new Map((await kept()).map((entry) => [entry.id, entry.at]));
  for (const entry of texts) if (!(known.get(entry.id) >= entry.at)) await keep(entry);
}

/** Delete a text. */
export function forget(id) {
  return ask("readwrite", (texts) => texts.delete(id));
}

/** Delete all. */
export function forgetAll() {
  return ask("readwrite", (texts) => texts.clear());
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
