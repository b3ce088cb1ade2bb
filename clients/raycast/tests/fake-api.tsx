/** A stand-in for `@raycast/api`, which can't be loaded outside Raycast: it notes what the user would see. */
import { createElement, ReactNode } from "react";

interface Shown {
  style?: string;
  title: string;
  message?: string;
  primaryAction?: { title: string; onAction: (toast: { hide: () => void }) => void };
}

/** What the user has selected, copied and set, and what the extension has shown since the last press. */
export const world = {
  selection: null as string | null,
  clipboard: "",
  preferences: {} as Record<string, string>,
  stored: new Map<string, string>(),
  huds: [] as string[],
  toasts: [] as Shown[],
  launched: [] as string[],
  popped: false,
};

export const environment = { launchType: "userInitiated" };
export enum LaunchType {
  UserInitiated = "userInitiated",
  Background = "background",
}

export const getPreferenceValues = () => world.preferences;
export const openExtensionPreferences = async () => void world.launched.push("preferences");
export const openCommandPreferences = openExtensionPreferences;
export const showHUD = async (title: string) => void world.huds.push(title);
export const popToRoot = async () => void (world.popped = true);
export const showInFinder = async (file: string) => void world.launched.push(file);
export const launchCommand = async ({ name, type }: { name: string; type: string }) =>
  void world.launched.push(`${name} ${type}`);

export async function showToast(options: Shown): Promise<Shown> {
  world.toasts.push(options);
  return options;
}

export async function getSelectedText(): Promise<string> {
  if (world.selection === null) throw new Error("Cannot copy selected text from the frontmost application.");
  return world.selection;
}

export const Clipboard = {
  readText: async () => world.clipboard || undefined,
  copy: async (text: string) => void (world.clipboard = text),
};

export const LocalStorage = {
  getItem: async (key: string) => world.stored.get(key),
  setItem: async (key: string, value: string) => void world.stored.set(key, value),
  removeItem: async (key: string) => void world.stored.delete(key),
};

export const Icon = new Proxy({}, { get: (_, name) => String(name) });
export const Toast = { Style: { Success: "success", Failure: "failure", Animated: "animated" } };

/** A component that keeps its properties for the test; those that are elements are rendered as its children. */
function component(name: string) {
  return ({ children, actions, ...properties }: { children?: ReactNode; actions?: ReactNode }) =>
    createElement(name, properties, children, actions);
}

function family(name: string, ...members: string[]) {
  const parts = members.map((member) => [member, component(`${name}.${member}`)]);
  return Object.assign(component(name), Object.fromEntries(parts));
}

export const ActionPanel = family("ActionPanel");
export const Action = family("Action", "SubmitForm", "CopyToClipboard");
export const Detail = family("Detail");
export const List = family("List", "Section", "Item");
export const MenuBarExtra = family("MenuBarExtra", "Section", "Item");
export const Form = Object.assign(family("Form", "TextArea", "TextField", "FilePicker"), {
  Dropdown: family("Form.Dropdown", "Item"),
});
