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

/** One request to the server; the answer may be of any type. Throws `NotRunning`, `WrongKey` or `Refused`. */
export async function ask(method: Method, path: string, body?: object): Promise<Response> {
  const { address, key } = getPreferenceValues<Preferences>();
  const headers: Record<string, string> = {};
  if (key) headers["Authorization"] = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    const url = new URL(path, address || "http://127.0.0.1:8880");
    response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  } catch (error) {
    throw new NotRunning(`Nothing answers at ${address}.`, { cause: error });
  }
  if (response.ok) return response;
  const message = await said(response);
  throw response.status === 401 ? new WrongKey(message) : new Refused(message, response.status);
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
