// The elements of the voices' dialog.

import { made } from "./made.js";
import { hearable } from "./sample.js";
import { settings } from "./settings.js";
import { languageOf, titleOf } from "./voices.js";
import { t } from "./words.js";

const GENDERS = { female: t("female"), male: t("male") };

/** A voice of the list: to hear, choose, like and blend. @param failed as of `hearable` */
export function card(voice, failed) {
  const { id, gender, grade } = voice;
  const name = titleOf(id);
  const hear = made("button", { type: "button", className: "hear icon", ariaLabel: t("Hear {name}", { name }), ariaKeyShortcuts: "H" });
  hearable(hear, () => voice, failed);
  const choose = made("button", { type: "button", className: "choose", textContent: name, title: id });
  const facts = [grade && t("grade {grade}", { grade }), GENDERS[gender]].filter(Boolean).join(", ");
  if (facts) choose.append(made("small", { textContent: facts }));
  const liked = settings.favourites.includes(id);
  const like = made("button", { type: "button", className: "like icon", textContent: liked ? "★" : "☆", ariaPressed: String(liked) });
  like.ariaLabel = t("Favourite: {name}", { name });
  const add = made("button", { type: "button", className: "add icon" });
  for (const button of [hear, choose, like, add]) button.dataset.id = id;
  const box = made("div", { className: "voice" }, hear, choose, like, add);
  box.dataset.id = id;
  box.dataset.words = `${id} ${name} ${languageOf(voice)} ${gender ?? ""} ${GENDERS[gender] ?? ""}`.toLowerCase();
  return box;
}

/** The slider of a voice in a blend. */
export function weight({ id, weight: value }) {
  const name = titleOf(id);
  const input = made("input", { type: "range", min: "0.1", max: "3", step: "0.1", value, ariaLabel: t("Weight of {name}", { name }) });
  input.dataset.id = id;
  const share = made("small", {});
  share.dataset.id = id;
  return made("label", {}, made("span", { textContent: name }), input, share);
}
