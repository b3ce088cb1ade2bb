import { Action, ActionPanel, Detail, Icon } from "@raycast/api";
import { ask } from "./lib/server";
import { useLoaded } from "./lib/use-loaded";
import { chosenVoice } from "./lib/voice";

const TEXT =
  "The old lighthouse keeper climbed the narrow stairs every evening. He carried a lamp, a flask of tea, and the worn " +
  "notebook in which he drew passing ships.";
const RUNS = 5;

/** Milliseconds from the request to the first byte of sound and to the last one. */
interface Times {
  first: number;
  last: number;
}

export default function Benchmark() {
  const { data, isLoading, reload } = useLoaded(measure);
  return (
    <Detail
      isLoading={isLoading}
      markdown={data ?? (isLoading ? "Measuring…" : "Nothing was measured.")}
      actions={
        <ActionPanel>
          <Action title="Measure Again" icon={Icon.ArrowClockwise} onAction={reload} />
          {data && <Action.CopyToClipboard title="Copy" content={data} />}
        </ActionPanel>
      }
    />
  );
}

/** Ask for the same two sentences as a stream and as a whole clip in turn; a table of both. Nothing is played. */
async function measure(): Promise<string> {
  const voice = await chosenVoice();
  const streamed: Times[] = [];
  const whole: Times[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    streamed.push(await timed(true, voice));
    whole.push(await timed(false, voice));
  }
  return [
    "# First Sound",
    `Medians of ${RUNS} requests each, nothing from the cache, in milliseconds.`,
    "| | first sound | all of it |",
    "| --- | --- | --- |",
    row("streamed, as speaking is", streamed),
    row("one clip, as Save as File is", whole),
  ].join("\n");
}

async function timed(stream: boolean, voice?: string): Promise<Times> {
  const begun = performance.now();
  const body = { input: TEXT, voice: voice || undefined, response_format: "pcm", stream };
  const response = await ask("POST", "/v1/audio/speech", body, undefined, { "Cache-Control": "no-store" });
  const reader = response.body!.getReader();
  await reader.read();
  const first = performance.now() - begun;
  while (!(await reader.read()).done);
  return { first, last: performance.now() - begun };
}

function row(title: string, times: Times[]): string {
  const median = (part: keyof Times) => times.map((each) => each[part]).sort((a, b) => a - b)[(RUNS - 1) / 2];
  return `| ${title} | ${median("first").toFixed(0)} | ${median("last").toFixed(0)} |`;
}
