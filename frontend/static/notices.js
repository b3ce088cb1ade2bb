// What the page says of itself: one quiet line, and errors.

import { t } from "./words.js";

const $ = (id) => document.getElementById(id);

/** Say it quietly. */
export function say(text) {
  $("said").textContent = text;
}

/** Tell an error, and go to the field that it is about. */
export function failed(error) {
  if (error.name === "AbortError") return;
  say("");
  $("error").textContent = error.message.replace("`input`", t("The text"));
  $("error").dataset.code = error.code ?? "";
  if (error.param === "input" && !$("compose").hidden) {
    $("text").ariaInvalid = "true";
    $("text").focus();
  }
  if (error.status === 401) {
    $("key-box").hidden = false;
    $("key").focus();
  }
}

/** Something goes well: no error is told any more. */
export function clear() {
  $("error").textContent = "";
  $("text").removeAttribute("aria-invalid");
}

/** The error that is shown says that the server is away. */
export function isLost() {
  return $("error").dataset.code === "lost";
}

/** Reading begins: neither an error nor the end of the last reading is told any more. */
export function startOver() {
  clear();
  say("");
}
