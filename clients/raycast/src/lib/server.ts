import { getPreferenceValues } from "@raycast/api";

/** The server can't be reached at the address of the preferences. */
export class NotRunning extends Error {}

/** The server wants an API key that the preferences don't have. */
export class WrongKey extends Error {}

/** The server refuses the request; the message is the server's. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Seconds for which a server is waited for that serves others first, or that can't speak yet. */
const MOST: Record<number, number> = { 429: 3600, 503: 60 };

/**
 * One request to the server; the answer may be of any type. Throws `NotRunning`, `WrongKey` or `Refused`.
 *
 * @param waits called with the reason before each wait; given, the server is waited for where it says when it is to be
 *   asked again
 * @param more headers besides those of the key and the body
 */
export async function ask(
  method: Method,
  path: string,
  body?: object,
  waits?: (reason: string) => void,
  more: Record<string, string> = {},
): Promise<Response> {
  for (let waited = 0; ;) {
    const response = await once(method, path, body, more);
    if (response.ok) return response;
    const seconds = Number(response.headers.get("Retry-After"));
    if (waits && seconds && (waited += seconds) <= (MOST[response.status] ?? 0)) {
      waits(`Waiting for the server, ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      continue;
    }
    const message = await said(response);
    throw response.status === 401 ? new WrongKey(message) : new Refused(message, response.status);
  }
}

async function once(
  method: Method,
  path: string,
  body: object | undefined,
  more: Record<string, string>,
): Promise<Response> {
  const { address, key } = getPreferenceValues<Preferences>();
  const headers: Record<string, string> = { "User-Agent": "kokoro-live-raycast", ...more };
  if (key) headers["Authorization"] = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  try {
    const url = new URL(path, address || "http://127.0.0.1:8880");
    return await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  } catch (error) {
    throw new NotRunning(`Nothing answers at ${address}.`, { cause: error });
  }
}

/** One request whose answer is JSON. */
export async function askJson<T>(method: Method, path: string, body?: object): Promise<T> {
  return (await (await ask(method, path, body)).json()) as T;
}

async function said(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error: { message: string } };
    return error.message;
  } catch {
    return `The server answers with ${response.status}.`;
  }
}
