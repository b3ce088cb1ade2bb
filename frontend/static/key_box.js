// The field for the API key.

import { keepKey, key } from "./api.js";
import { clear } from "./notices.js";

/** @param {Tabs} tabs @param {() => void} changed called with another key */
export function takeKey(tabs, changed) {
  const field = document.getElementById("key");
  document.getElementById("ask-key").addEventListener("click", () => {
    tabs.show("read");
    document.getElementById("key-box").hidden = false;
    field.focus();
  });
  field.value = key();
  field.addEventListener("change", () => {
    keepKey(field.value.trim());
    clear();
    changed();
  });
}
