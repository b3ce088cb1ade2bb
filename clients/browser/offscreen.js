// The player in Chromium's hidden document, which has a sound device but of the browser's interfaces only messages.

import { Player, steer } from "./player.js";

const player = new Player((told) => chrome.runtime.sendMessage({ to: "background", told }));

chrome.runtime.onMessage.addListener(({ to, what }) => {
  if (to === "player") steer(player, what);
});
