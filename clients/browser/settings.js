// The server's address and key, the voice and its speed, as the options page keeps them.

const DEFAULTS = { address: "http://localhost:8880", key: "", voice: "", speed: "" };

/** @returns {Promise<typeof DEFAULTS>} */
export const settings = () => chrome.storage.local.get(DEFAULTS);

/** Ask the server. @throws {Error} with words for people */
export async function ask({ address, key }, path, body, signal) {
  const headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { "Content-Type": "application/json" }) };
  let response;
  try {
    response = await fetch(new URL(path, `${address.replace(/\/*$/, "")}/`), {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(`No server answers at ${address}. Start it with kokoro-live, or enter its address in this extension's settings.`);
  }
  if (response.ok) return response;
  const { message, code } = (await response.json().catch(() => null))?.error ?? {};
  if (code === "origin_not_allowed") throw new Error(`The server must be told of this extension: kokoro-live serve --cors-origins ${location.origin}`);
  const wait = response.headers.get("Retry-After");
  throw Object.assign(new Error(message ?? `The server answered ${response.status}.`), { status: response.status, wait: Number(wait) });
}
