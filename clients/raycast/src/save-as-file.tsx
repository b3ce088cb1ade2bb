import { Action, ActionPanel, Clipboard, Form, getPreferenceValues, getSelectedText, Icon } from "@raycast/api";
import { popToRoot, showInFinder, showToast, Toast } from "@raycast/api";
import { access, writeFile } from "fs/promises";
import { homedir } from "os";
import { join } from "path";
import { useState } from "react";
import { reported } from "./lib/failures";
import { SpeedField, VoiceField } from "./lib/fields";
import { ask, askJson } from "./lib/server";
import { useLoaded } from "./lib/use-loaded";
import { chosenVoice, voices } from "./lib/voice";

interface Formats {
  formats: { id: string; title: string }[];
  default_format: string;
}

interface Values {
  text: string;
  voice: string;
  speed: string;
  format: string;
  folder: string[];
}

export default function SaveAsFile() {
  const { data, isLoading } = useLoaded(load);
  const [text, setText] = useState<string>();
  const [missing, setMissing] = useState<string>();

  async function submit(values: Values) {
    if (!values.text.trim()) {
      setMissing("Enter a text");
      return;
    }
    const toast = await showToast({ style: Toast.Style.Animated, title: "Making the audio" });
    await reported(async () => {
      const file = await save(values, (reason) => (toast.title = reason));
      toast.style = Toast.Style.Success;
      toast.title = "Saved";
      toast.message = file;
      toast.primaryAction = { title: "Show in Finder", onAction: () => void showInFinder(file) };
      await popToRoot();
    });
  }

  return (
    <Form
      isLoading={isLoading}
      actions={
        <ActionPanel>
          <Action.SubmitForm<Values> title="Save" icon={Icon.SaveDocument} onSubmit={submit} />
        </ActionPanel>
      }
    >
      <Form.TextArea
        id="text"
        title="Text"
        value={text ?? data?.text ?? ""}
        error={missing}
        onChange={(entered) => {
          setText(entered);
          setMissing(undefined);
        }}
      />
      <VoiceField voices={data?.voices ?? []} />
      <SpeedField />
      {data && (
        <Form.Dropdown id="format" title="Format" defaultValue={data.default_format} storeValue>
          {data.formats.map(({ id, title }) => (
            <Form.Dropdown.Item key={id} value={id} title={title} />
          ))}
        </Form.Dropdown>
      )}
      <Form.FilePicker
        id="folder"
        title="Folder"
        allowMultipleSelection={false}
        canChooseDirectories
        canChooseFiles={false}
        defaultValue={[join(homedir(), "Downloads")]}
      />
    </Form>
  );
}

/** The voices and formats, and the text that is selected or else copied. */
async function load() {
  const text = await getSelectedText().catch(() => Clipboard.readText());
  const formats = askJson<Formats>("GET", "/v1/audio/formats");
  return { voices: (await voices()).voices, text: text ?? "", ...(await formats) };
}

/** Have the whole text made, and write it into a new file of the folder; the file's name. */
async function save(values: Values, waits: (reason: string) => void): Promise<string> {
  const request = {
    model: "kokoro",
    input: values.text,
    voice: values.voice || (await chosenVoice()),
    speed: Number(values.speed || getPreferenceValues<Preferences>().speed) || undefined,
    response_format: values.format,
    stream: false,
  };
  const response = await ask("POST", "/v1/audio/speech", request, waits);
  const file = await freeName(values.folder[0] ?? join(homedir(), "Downloads"), titleOf(values.text), values.format);
  await writeFile(file, Buffer.from(await response.arrayBuffer()), { flag: "wx" });
  return file;
}

/** The text's first words, as a file's name. */
function titleOf(text: string): string {
  const words = text.match(/[\p{L}\p{N}'’-]+/gu) ?? [];
  return words.slice(0, 6).join(" ").slice(0, 60) || "Speech";
}

async function freeName(folder: string, title: string, format: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = join(folder, `${title}${number > 1 ? ` ${number}` : ""}.${format}`);
    try {
      await access(file);
    } catch {
      return file;
    }
  }
}
