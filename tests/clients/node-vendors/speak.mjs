// Run with the Node SDKs of ElevenLabs, Cartesia, Deepgram and Google, unchanged from npm: makes each call, as their READMEs and
// examples do, with another address alone, and prints what came.
//
// Usage: node speak.mjs http(s)://HOST:PORT. Prints one JSON object: bytes or things that came by call, or the error's class.

import { createRequire } from "node:module";
import { Cartesia } from "@cartesia/cartesia-js";
import { DeepgramClient } from "@deepgram/sdk";
import { ElevenLabsClient } from "@elevenlabs/elevenlabs-js";
import { TextToSpeechClient, v1beta1 } from "@google-cloud/text-to-speech";

const http = process.argv[2];
const ws = http.replace("http", "ws");
const secure = http.startsWith("https:");
const [george, rachel] = ["JBFqnCBsd6RMkjVDRZzb", "21m00Tcm4TlvDq8ikWAM"];
const tessa = "6ccbfb76-1fc6-48f7-b71d-91ac6298247b";
const text = "The first move is what sets everything in motion.";

const found = {};

async function call(name, made) {
  try {
    found[name] = await made();
  } catch (error) {
    found[name] = `${error.constructor.name} ${error.statusCode ?? error.status ?? error.message}`.trim();
  }
}

async function size(stream) {
  let bytes = 0;
  for await (const piece of stream) bytes += piece.length;
  return bytes;
}

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function elevenlabs() {
  const client = new ElevenLabsClient({ baseUrl: http, apiKey: "any" });
  const [speech, asked] = [client.textToSpeech, { text, modelId: "eleven_multilingual_v2" }];
  const dialogue = { inputs: [{ text: "Who is there?", voiceId: george }, { text: "It is me.", voiceId: rachel }] };
  const characters = (line) => line.alignment?.characters.length ?? 0;
  await call("elevenlabs textToSpeech.convert", async () => size(await speech.convert(george, { ...asked, outputFormat: "mp3_44100_128" })));
  await call("elevenlabs textToSpeech.stream", async () => size(await speech.stream(george, asked)));
  await call("elevenlabs textToSpeech.convertWithTimestamps", async () => characters(await speech.convertWithTimestamps(george, asked)));
  await call("elevenlabs textToSpeech.streamWithTimestamps", async () =>
    (await all(await speech.streamWithTimestamps(george, asked))).reduce((sum, line) => sum + characters(line), 0));
  await call("elevenlabs textToDialogue.convert", async () => size(await client.textToDialogue.convert(dialogue)));
  await call("elevenlabs textToDialogue.stream", async () => size(await client.textToDialogue.stream(dialogue)));
  await call("elevenlabs textToDialogue.convertWithTimestamps", async () =>
    (await client.textToDialogue.convertWithTimestamps(dialogue)).voiceSegments.map((each) => each.voiceId));
  await call("elevenlabs voices.search", async () => (await client.voices.search({ search: "george" })).voices[0].voiceId);
  await call("elevenlabs voices.getAll", async () => (await client.voices.getAll()).voices.length);
  await call("elevenlabs voices.get", async () => (await client.voices.get(george)).voiceId);
  await call("elevenlabs voices.settings.get", async () => (await client.voices.settings.get(george)).speed);
  await call("elevenlabs models.list", async () => (await client.models.list()).map((each) => each.modelId));
  await call("elevenlabs user.get", async () => (await client.user.get()).userId);
  await call("elevenlabs user.subscription.get", async () => (await client.user.subscription.get()).status);
  await call("elevenlabs history.list", async () => (await client.history.list()).history.length);
  await call("elevenlabs voices.get of nobody", () => client.voices.get("nobody"));
}

/* Its socket always wants TLS (`wss:`), and finds its `ws` in CommonJS alone. */
async function cartesia() {
  const client = new Cartesia({ apiKey: "any", baseURL: http });
  const output_format = { container: "raw", encoding: "pcm_s16le", sample_rate: 24000 };
  const asked = { model_id: "sonic-latest", transcript: text, voice: { mode: "id", id: tessa }, output_format };
  const bytes = async (answer) => (await answer.arrayBuffer()).byteLength;
  await call("cartesia tts.generate", async () =>
    bytes(await client.tts.generate({ ...asked, output_format: { container: "wav", encoding: "pcm_f32le", sample_rate: 44100 } })));
  await call("cartesia tts.generate by a voice's id", async () => bytes(await client.tts.generate({ ...asked, voice: tessa })));
  await call("cartesia tts.generateSSE", async () =>
    (await all(await client.tts.generateSSE(asked))).reduce((sum, each) => sum + (each.audio?.length ?? (each.data ? atob(each.data).length : 0)), 0));
  await call("cartesia voices.list", async () => (await all(client.voices.list())).length);
  await call("cartesia voices.get", async () => (await client.voices.get("af_heart")).id);
  await call("cartesia voices.get of nobody", () => client.voices.get("nobody"));
  if (secure) await call("cartesia tts.websocket", () => overSocket(asked));
}

async function overSocket(asked) {
  const { Cartesia: OfCommonJs } = createRequire(import.meta.url)("@cartesia/cartesia-js");
  const socket = await new OfCommonJs({ apiKey: "any", baseURL: http }).tts.websocket();
  let bytes = 0;
  for await (const each of socket.generate(asked)) bytes += each.audio?.length ?? 0;
  socket.close();
  return bytes;
}

async function deepgram() {
  const client = new DeepgramClient({ apiKey: "any", environment: { base: http, production: ws, agent: ws, agentRest: http } });
  const model = "aura-2-thalia-en";
  await call("deepgram speak.v1.audio.generate", async () =>
    size((await client.speak.v1.audio.generate({ text, model, encoding: "linear16", container: "wav" })).stream()));
  await call("deepgram speak.v1.connect", () => spoken(client.speak.v1, model, "Flushed", (socket) => socket.sendText({ type: "Speak", text })));
  await call("deepgram speak.v2.connect", () =>
    spoken(client.speak.v2, "flux-alexis-en", "SpeechMetadata", (socket) => socket.sendSpeak({ type: "Speak", text })));
  await call("deepgram manage.v1.models.list", async () => (await client.manage.v1.models.list()).tts.length);
}

async function spoken(version, model, last, write) {
  const connection = await version.connect({ model, encoding: "linear16", sample_rate: 24000 });
  let bytes = 0;
  const flushed = new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.on("message", (message) => {
      if (message.type === last) resolve();
      else if (typeof message.type !== "string" || !message.type) bytes += message.size ?? message.byteLength;
    });
  });
  connection.connect();
  await connection.waitForOpen();
  write(connection);
  connection.sendFlush({ type: "Flush" });
  await flushed;
  connection.sendClose({ type: "Close" });
  connection.close();
  return bytes;
}

async function google() {
  const { protocol, hostname, port } = new URL(http);
  const options = { fallback: true, protocol: protocol.slice(0, -1), apiEndpoint: hostname, port: Number(port), apiKey: "any" };
  const [client, beta] = [new TextToSpeechClient(options), new v1beta1.TextToSpeechClient(options)];
  const [voice, mp3] = [{ languageCode: "en-US", name: "en-US-Neural2-J" }, { audioEncoding: "MP3" }];
  const marked = { ssml: '<speak>Go from <mark name="here"/> here, to <mark name="there"/> there!</speak>' };
  await call("google synthesizeSpeech", async () =>
    (await client.synthesizeSpeech({ input: { text }, voice, audioConfig: mp3 }))[0].audioContent.length);
  await call("google synthesizeSpeech with marks", async () =>
    (await beta.synthesizeSpeech({ input: marked, voice, audioConfig: mp3, enableTimePointing: ["SSML_MARK"] }))[0]
      .timepoints.map((each) => each.markName));
  await call("google synthesizeSpeech of nobody", () =>
    client.synthesizeSpeech({ input: { text }, voice: { ...voice, name: "nobody" }, audioConfig: mp3 }));
  await call("google listVoices", async () => (await client.listVoices({}))[0].voices.length);
}

await elevenlabs();
await cartesia();
await deepgram();
await google();
process.stdout.write(JSON.stringify(found), () => process.exit());
