// What OpenAI's Node SDK makes of a server: `node speak.mjs BASE_URL KEY LIMITED_KEY` prints a JSON object.
// LIMITED_KEY is used up for it.
import { createHash } from "node:crypto";
import OpenAI from "openai";

const [baseURL, apiKey, limitedKey] = process.argv.slice(2);
const input = "Spoken through the official client.";
const asked = { model: "gpt-4o-mini-tts", voice: "af_heart", input };
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

async function bytesOf(options) {
  const response = await client.audio.speech.create({ ...asked, ...options });
  return Buffer.from(await response.arrayBuffer());
}

async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    const { name, status, code, param, type } = error;
    return { name: error.constructor.name ?? name, status, code, param, type };
  }
  return null;
}

async function useUp(key) {
  const headers = { Authorization: `Bearer ${key}` };
  for (let status = 0; status !== 429; ) {
    const response = await fetch(`${baseURL}/audio/speech`, { method: "POST", body: "{}", headers });
    await response.text();
    status = response.status;
  }
}

async function limited() {
  await useUp(limitedKey);
  const impatient = new OpenAI({ baseURL, apiKey: limitedKey, maxRetries: 0 });
  return await errorOf(impatient.audio.speech.create(asked));
}

async function streamed() {
  const response = await client.audio.speech.create({ ...asked, response_format: "pcm" });
  const chunks = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return {
    chunks: chunks.length,
    sha256: digest(Buffer.concat(chunks)),
    engine: response.headers.get("x-engine"),
    type: response.headers.get("content-type"),
  };
}

async function retried() {
  const statuses = [];
  const counting = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  await useUp(limitedKey);
  const patient = new OpenAI({ baseURL, apiKey: limitedKey, maxRetries: 2, fetch: counting });
  const response = await patient.audio.speech.create(asked);
  return { statuses, length: (await response.arrayBuffer()).byteLength };
}

async function parallel() {
  const answers = await Promise.all([1, 2, 3, 4].map(() => bytesOf({ response_format: "pcm" })));
  return answers.map(digest);
}

const formats = {};
for (const response_format of ["mp3", "opus", "aac", "flac", "wav", "pcm"]) {
  formats[response_format] = (await bytesOf({ response_format })).length;
}

console.log(
  JSON.stringify({
    formats,
    pcm: digest(await bytesOf({ response_format: "pcm" })),
    streamed: await streamed(),
    parallel: await parallel(),
    models: (await client.models.list()).data.map((model) => model.id),
    badVoice: await errorOf(client.audio.speech.create({ ...asked, voice: "nobody" })),
    badKey: await errorOf(new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).audio.speech.create(asked)),
    limited: await limited(),
    retried: await retried(),
  }),
);
