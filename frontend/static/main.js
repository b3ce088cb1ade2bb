// The page's form: speaks, stops and downloads.
//
// Each piece of samples that comes is also told as an event on the document, `kokoro-live:samples`, whose detail is
// the Int16Array (24 kHz mono): for whoever wants to look at what is played.

import { keepKey, key } from "./api.js";
import { download } from "./download.js";
import { Live } from "./live.js";
import { speak } from "./speaking.js";
import { Voices } from "./voices.js";
import { Waveform } from "./waveform.js";
import { Reading } from "./words.js";

const $ = (id) => document.getElementById(id);
const voices = new Voices($("voices"), $("blend"), $("spec"));
const waveform = new Waveform($("waveform"));
const reading = new Reading($("reading"));
let running = null; // the AbortController of what is being done

const request = () => ({ input: $("text").value, voice: voices.spec, speed: Number($("speed").value) });

/** Do one thing, in place of what is being done. Whatever goes wrong is said. */
async function run(job) {
  running?.abort();
  const mine = (running = new AbortController());
  $("stop").ariaDisabled = "false";
  $("error").textContent = "";
  $("text").removeAttribute("aria-invalid");
  try {
    await job(mine.signal);
  } catch (error) {
    if (mine === running) failed(error);
  } finally {
    mine.abort();
    if (mine === running) {
      running = null;
      $("stop").ariaDisabled = "true";
    }
  }
}

function failed(error) {
  if (error.name === "AbortError") {
    $("said").textContent = "Stopped.";
    return;
  }
  $("said").textContent = "";
  $("error").textContent = error.message.replace("`input`", "The text");
  if (error.param === "input") {
    $("text").ariaInvalid = "true";
    $("text").focus();
  }
  if (error.param === "voice") voices.focus();
  if (error.status === 401) {
    $("key-box").open = true;
    $("key").focus();
  }
}

const view = {
  begin(text) {
    reading.begin(text);
    waveform.clear();
    $("waveform").hidden = false;
    $("reading").scrollIntoView({ block: "nearest" });
  },
  words: (words) => reading.add(words),
  samples(samples) {
    waveform.add(samples);
    document.dispatchEvent(new CustomEvent("kokoro-live:samples", { detail: samples }));
  },
  heard(second) {
    reading.light(second);
    waveform.heard(second);
  },
  end: () => reading.end(),
  say: (text) => ($("said").textContent = text),
  failed,
};

async function save(signal) {
  const format = $("format").value;
  $("said").textContent = `Making the ${format} file…`;
  const size = await download({ ...request(), response_format: format }, signal);
  $("said").textContent = `Downloaded: ${Math.ceil(size / 1000)} kB.`;
}

async function listVoices() {
  try {
    await voices.load();
  } catch (error) {
    failed(error);
  }
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run((signal) => speak(request(), signal, view));
});
$("download").addEventListener("click", () => run(save));
$("stop").addEventListener("click", () => running?.abort());
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});
$("speed").addEventListener("input", () => {
  $("speed-shown").textContent = `${Number($("speed").value).toFixed(2)}×`;
});

const live = new Live(
  {
    engine: $("engine"),
    trouble: $("live-trouble"),
    figures: $("figures"),
    streams: $("streams"),
    advice: $("advice"),
    all: $("all"),
    allBox: $("all-box"),
  },
  listVoices,
);
$("key").value = key();
$("key").addEventListener("change", () => {
  keepKey($("key").value.trim());
  $("error").textContent = "";
  listVoices();
  live.restart();
});
listVoices();
