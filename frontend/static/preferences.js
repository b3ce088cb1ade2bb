// The dialog with the settings, and what they change on the page.

import { ask } from "./api.js";
import { LANGUAGES, language } from "./words.js";
import { choose, settings, usual } from "./settings.js";

/**
 * Bind the fields that are named like settings to them.
 * @param {HTMLDialogElement} dialog
 */
export function bind(dialog) {
  dialog.querySelector("[name=language]").append(...Object.entries(LANGUAGES).map(([id, name]) => new Option(name, id)));
  for (const field of dialog.querySelectorAll("[name]")) {
    const property = field.type === "checkbox" ? "checked" : "value";
    field[property] = field.name === "language" ? language : settings[field.name];
    field.addEventListener("change", () => {
      const value = field[property];
      choose({ [field.name]: field.type === "range" ? Number(value) : value });
      if (field.name === "language") location.reload(); // all texts of the page are made in it
      apply();
    });
  }
  apply();
}

/** Fill the field of download formats with those of the server. */
export async function listFormats() {
  const field = document.querySelector("[name=format]");
  const { formats, default_format: format } = await (await ask("v1/audio/formats")).json();
  usual.format = format;
  field.replaceChildren(...formats.map(({ id, title }) => new Option(title, id)));
  field.value = settings.format || format;
}

function apply() {
  document.documentElement.style.setProperty("--size", settings.size);
}

/** Open dialogs by buttons with `data-opens`, close them by those with `data-closes` and by a click next to them. */
export function bindDialogs() {
  for (const button of document.querySelectorAll("[data-opens]")) {
    button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", ({ target }) => {
      if (target === dialog || target.closest("[data-closes]")) dialog.close();
    });
  }
}
