/**
 * Presses the extension's keys: each line of standard input is a step in JSON, each line of standard output what came
 * of it. `{"set": {...}}` changes the world, `{"run": "stop"}` runs a command without a view, `{"show": "voices"}` renders
 * one with a view, `{"act": "Preview", "in": "af_heart"}` chooses an action in it, `{"submit": {...}}` submits its form,
 * `{"tool": {...}}` calls the AI tool.
 */
import { createElement, ComponentType } from "react";
import { createInterface } from "readline";
import { act, create, ReactTestInstance, ReactTestRenderer } from "react-test-renderer";
import { environment, world } from "./fake-api";
import Benchmark from "../src/benchmark";
import Faster from "../src/faster";
import NowSpeaking from "../src/now-speaking";
import PauseOrResume from "../src/pause-or-resume";
import SaveAsFile from "../src/save-as-file";
import SkipSentence from "../src/skip-sentence";
import Slower from "../src/slower";
import SpeakClipboard from "../src/speak-clipboard";
import SpeakForm from "../src/speak-form";
import SpeakSelection from "../src/speak-selection";
import Stop from "../src/stop";
import speakTool from "../src/tools/speak";
import Voices from "../src/voices";

interface Step {
  set?: Partial<typeof world> & { launchType?: string };
  run?: string;
  show?: string;
  act?: string;
  in?: string;
  submit?: Record<string, unknown>;
  tool?: { text: string; title?: string; voice?: string };
}

const COMMANDS: Record<string, () => Promise<void>> = {
  faster: Faster,
  "pause-or-resume": PauseOrResume,
  "skip-sentence": SkipSentence,
  slower: Slower,
  "speak-clipboard": SpeakClipboard,
  "speak-selection": SpeakSelection,
  stop: Stop,
};

const VIEWS: Record<string, ComponentType> = {
  benchmark: Benchmark,
  "now-speaking": NowSpeaking,
  "save-as-file": SaveAsFile,
  "speak-form": SpeakForm,
  voices: Voices,
};

let view: ReactTestRenderer | undefined;
let pending = 0;
const calls: string[] = [];

const reallyFetch = globalThis.fetch;
globalThis.fetch = async (address, options) => {
  calls.push(`${options?.method} ${new URL(String(address)).pathname}`);
  pending += 1;
  try {
    return await reallyFetch(address, options);
  } finally {
    pending -= 1;
  }
};

/** Wait until no request is under way and nothing more follows from the last one. */
async function settled() {
  do {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  } while (pending);
}

/** React shows what has changed only after `act`: wait until the view has loaded. */
async function loaded() {
  const isLoading = (node: ReactTestInstance) => node.props.isLoading === true;
  do {
    await act(settled);
  } while (view?.toJSON() && view.root.findAll(isLoading).length);
}

async function take(step: Step): Promise<unknown> {
  if (step.set) {
    const { launchType, ...rest } = step.set;
    if (launchType) environment.launchType = launchType;
    Object.assign(world, rest);
  }
  if (step.run) await COMMANDS[step.run]();
  if (step.tool) return speakTool(step.tool);
  if (step.show) await rendered(VIEWS[step.show]);
  if (step.act) await acted((action) => action.props.title === step.act, "onAction", [], step.in);
  if (step.submit) await acted((action) => !!action.props.onSubmit, "onSubmit", [step.submit]);
  return undefined;
}

async function rendered(View: ComponentType) {
  await act(async () => {
    view = create(createElement(View));
  });
  await loaded();
}

async function acted(which: (node: ReactTestInstance) => boolean, handler: string, values: unknown[], title?: string) {
  const hosts = (node: ReactTestInstance) => typeof node.type === "string";
  const root = view!.root;
  const within = title ? root.find((node) => hosts(node) && node.props.title === title) : root;
  const action = within.find((node) => hosts(node) && which(node));
  await act(async () => {
    await action.props[handler](...values);
  });
  await loaded();
}

async function main() {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  console.error = () => undefined; // react-test-renderer announces its own end
  for await (const line of createInterface({ input: process.stdin })) {
    const { huds, toasts, launched } = Object.assign(world, { huds: [], toasts: [], launched: [], popped: false });
    calls.length = 0;
    const began = performance.now();
    let result: unknown;
    let error: string | undefined;
    try {
      result = await take(JSON.parse(line) as Step);
    } catch (thrown) {
      error = String(thrown);
    }
    const ms = performance.now() - began;
    const { clipboard, popped } = world;
    const outcome = { huds, toasts, launched, calls, ms, result, error, clipboard, popped, view: view?.toJSON() };
    console.log(JSON.stringify(outcome));
  }
}

void main().then(() => process.exit(0)); // React's scheduler would keep the process
