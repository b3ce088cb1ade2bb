// The settings: kept, and tried at the server.

import { ask, settings } from "./settings.js";

const form = document.querySelector("form");
const said = document.getElementById("said");

async function tried() {
  try {
    const now = await settings();
    const { voices } = await (await ask(now, "v1/audio/voices")).json();
    document.getElementById("voices").replaceChildren(...voices.map((each) => new Option(each.id ?? each)));
    await ask(now, "v1/text/sentences", { paragraphs: ["One."] }); // what reading needs: to be let in, and the key
    return `The server answers, with ${voices.length} voices.`;
  } catch (error) {
    return error.message;
  }
}

for (const [name, value] of Object.entries(await settings())) form.elements[name].value = value;
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { address, key, voice, speed } = Object.fromEntries(new FormData(form));
  const { protocol, hostname } = new URL(address);
  // A browser asks the person, within the click.
  const may = await chrome.permissions.request({ origins: [`${protocol}//${hostname}/*`] });
  await chrome.storage.local.set({ address, key: key.trim(), voice: voice.trim(), speed: speed && Number(speed) });
  said.textContent = may ? `Saved. ${await tried()}` : "Saved, but the browser lets this extension not reach that address.";
});
said.textContent = await tried();
