// The cover of a text: its book's own, made small, or a drawn tile with its title.

import { ask } from "./api.js";

const [WIDE, HIGH] = [320, 480];

const drawn = new Map(); // by title and author

/** A picture made small enough to be kept. @param {string} url its own @returns {Promise<string>} a data URL; "" where it can't be shown */
export async function small(url) {
  const picture = Object.assign(new Image(), { src: url });
  try {
    await picture.decode();
  } catch {
    return "";
  }
  const scale = Math.min(1, WIDE / picture.width, HIGH / picture.height);
  return urlOf(picture.width * scale, picture.height * scale, (pen, width, height) => pen.drawImage(picture, 0, 0, width, height));
}

/** The same of a picture of the server's, as a picture's element can't send the key. @param {string} path as of `ask` */
export async function coverAt(path) {
  const url = URL.createObjectURL(await (await ask(path)).blob());
  const cover = await small(url);
  URL.revokeObjectURL(url);
  return cover;
}

/** The URL of a text's cover. @param {{title: string, author?: string, cover?: string}} entry */
export function coverOf({ title, author = "", cover }) {
  if (cover?.startsWith("data:image/")) return cover; // an imported one may name another host
  const name = `${title}\n${author}`;
  if (!drawn.has(name)) drawn.set(name, urlOf(WIDE, HIGH, (pen) => tile(pen, title, author)));
  return drawn.get(name);
}

function urlOf(width, height, draw) {
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.max(1, width), height: Math.max(1, height) });
  draw(canvas.getContext("2d"), canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85);
}

/* Title and author on a plain ground, whose colour is the title's. */
function tile(pen, title, author) {
  const hue = [...title].reduce((sum, character) => (31 * sum + character.codePointAt(0)) % 360, 0);
  pen.fillStyle = `hsl(${hue} 32% 34%)`;
  pen.fillRect(0, 0, WIDE, HIGH);
  pen.fillStyle = `hsl(${hue} 40% 55%)`;
  pen.fillRect(0, 0, 14, HIGH);
  pen.fillStyle = "#fff";
  pen.textAlign = "center";
  const serif = getComputedStyle(document.documentElement).getPropertyValue("--serif");
  pen.font = `600 48px ${serif}`;
  const lines = wrapped(pen, title, WIDE - 64).slice(0, 6);
  lines.forEach((line, number) => pen.fillText(line, WIDE / 2 + 7, 100 + 58 * number, WIDE - 40));
  pen.font = `30px ${serif}`;
  pen.fillText(author, WIDE / 2 + 7, HIGH - 44, WIDE - 56);
}

/* Lines of whole words, or of characters where a word is longer than a line. */
function wrapped(pen, text, width) {
  const lines = [""];
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (pen.measureText(lines.at(-1) + word).width <= width) lines.push(lines.pop() + word);
    else {
      lines.push("");
      for (const character of word.trim()) {
        if (pen.measureText(lines.at(-1) + character).width > width) lines.push("");
        lines.push(lines.pop() + character);
      }
    }
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}
