// The page's words in the reader's language: English stands in the code, the others in files words-de.json and so on,
// each from the English to the translation. `{name}` in either is filled in.

import { settings } from "./settings.js";

/** Languages of the interface, each by its own name. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  it: "Italiano",
  pt: "Português",
  hi: "हिन्दी",
  ja: "日本語",
  zh: "中文",
};

/** The language in use: the one that was chosen, else the first of the browser's that there is. */
export const language =
  settings.language in LANGUAGES
    ? settings.language
    : (navigator.languages.map((each) => each.split("-")[0]).find((each) => each in LANGUAGES) ?? "en");

const ATTRIBUTES = ["aria-label", "placeholder", "title", "alt"];

const table = language === "en" ? {} : await file(language);

async function file(name) {
  try {
    return await (await fetch(new URL(`static/words-${name}.json`, document.baseURI))).json();
  } catch {
    return {}; // the server is away: English does
  }
}

/** A text of the page in the language in use. @param {object} values what is filled in, by name */
export function t(english, values = {}) {
  const found = table[english] || english;
  return found.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** A figure as the language in use writes it, with so many digits after the point. */
export function decimal(value, digits) {
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
}

/** Translate the texts and attributes of an element and of all in it. */
export function translate(root) {
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const name of ATTRIBUTES) {
      const english = element.getAttribute(name);
      if (english) element.setAttribute(name, t(english));
    }
    for (const node of element.childNodes) {
      const english = node.nodeType === Node.TEXT_NODE ? node.data.trim() : "";
      if (english in table) node.data = node.data.replace(english, t(english));
    }
  }
}

document.documentElement.lang = language;
if (language !== "en") translate(document.body);
