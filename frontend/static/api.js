// Requests to the server that this page came from, and its errors in words.

const KEPT = "kokoro-live key";

/** What the server refused or broke off, or why it wasn't reached. `message` is for people. */
export class ApiError extends Error {
  /** @param {{status?: number, code?: string | null, param?: string | null}} error as the API shapes it */
  constructor(message, { status, code, param } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

export function key() {
  return sessionStorage.getItem(KEPT) ?? "";
}

/** Keep the API key for as long as the tab is open. */
export function keepKey(value) {
  if (value) sessionStorage.setItem(KEPT, value);
  else sessionStorage.removeItem(KEPT);
}

/**
 * Ask the server, with the API key if there is one.
 *
 * @param {string} path relative to the page
 * @param {{method?: string, body?: unknown, signal?: AbortSignal}} options `method` is POST where there is a body and
 *   GET where there is none; a Blob or FormData is sent as it is, any other body as JSON
 * @returns {Promise<Response>} one with a good status
 * @throws {ApiError} any other; or DOMException "AbortError"
 */
export async function ask(path, { method, body, signal } = {}) {
  const headers = {};
  if (key()) {
    if (!/^[\x21-\x7e]+$/.test(key())) {
      throw new ApiError("An API key has only letters, digits and signs of ASCII, and no spaces.", { status: 401 });
    }
    headers.Authorization = `Bearer ${key()}`;
  }
  const options = { method: method ?? (body === undefined ? "GET" : "POST"), headers, signal, cache: "no-store" };
  if (body instanceof Blob || body instanceof FormData) options.body = body;
  else if (body !== undefined) {
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  const response = await reached(fetch(new URL(path, document.baseURI), options));
  if (!response.ok) throw await refusal(response);
  return response;
}

/** What `promise` gives; a failure of the network is told in words, and to the document by `kokoro-live:lost`. */
export async function reached(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    document.dispatchEvent(new Event("kokoro-live:lost"));
    throw new ApiError("The connection to the server failed: is it still running?");
  }
}

async function refusal(response) {
  const text = await response.text();
  let error;
  try {
    error = JSON.parse(text).error;
  } catch {
    // A proxy in between answers in a form of its own.
    error = { message: `The answer was ${response.status} ${response.statusText}.` };
  }
  const wait = response.headers.get("Retry-After");
  const message = wait ? `${error.message} (Try again in ${wait} s.)` : error.message;
  return new ApiError(message, { ...error, status: response.status });
}
