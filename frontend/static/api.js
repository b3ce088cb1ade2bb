// Requests to the server that this page came from, and its errors in words.

import { say } from "./notices.js";
import { t } from "./words.js";

const KEPT = "kokoro-live key";

const MOST = { 429: 3600, 503: 60 };
/* Seconds for which a server is waited for that serves others first, or that can't speak yet. */

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
 * @param {{method?: string, body?: unknown, signal?: AbortSignal, patient?: boolean, id?: string}} options `method` is POST where
 *   there is a body and GET where there is none; a Blob or FormData is sent as it is, any other body as JSON; `patient`:
 *   wait, and say so, where the server says when to ask again; `id`: the name by which the server's status knows it
 * @returns {Promise<Response>} one with a good status
 * @throws {ApiError} any other; or DOMException "AbortError"
 */
export async function ask(path, { method, body, signal, patient = false, id } = {}) {
  const headers = id ? { "X-Request-ID": id } : {};
  if (key()) {
    if (!/^[\x21-\x7e]+$/.test(key())) {
      throw new ApiError(t("An API key has only letters, digits and signs of ASCII, and no spaces."), { status: 401 });
    }
    headers.Authorization = `Bearer ${key()}`;
  }
  const options = { method: method ?? (body === undefined ? "GET" : "POST"), headers, signal, cache: "no-store" };
  if (body instanceof Blob || body instanceof FormData) options.body = body;
  else if (body !== undefined) {
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  for (let waited = 0; ; ) {
    const response = await reached(fetch(new URL(path, document.baseURI), options));
    const seconds = Number(response.headers.get("Retry-After"));
    if (!response.ok && !(patient && seconds && (waited += seconds) <= MOST[response.status])) throw await refusal(response);
    if (response.ok) {
      if (waited) say("");
      return response;
    }
    say(t("Waiting for the server, {seconds} s…", { seconds }));
    await pause(seconds, signal);
  }
}

/** Resolves after so many seconds; aborted, it rejects as a fetch does. */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      say("");
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort);
  });
}

/** What `promise` gives; a failure of the network is told in words, and to the document by `kokoro-live:lost`. */
export async function reached(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    document.dispatchEvent(new Event("kokoro-live:lost"));
    throw new ApiError(t("The connection to the server failed. The page goes on by itself when the server is back."), { code: "lost" });
  }
}

async function refusal(response) {
  const text = await response.text();
  let error;
  try {
    error = JSON.parse(text).error;
  } catch {
    // A proxy in between answers in a form of its own.
    error = { message: t("The answer was {status}.", { status: `${response.status} ${response.statusText}`.trim() }) };
  }
  const wait = response.headers.get("Retry-After");
  const message = wait ? `${error.message} ${t("(Try again in {wait} s.)", { wait })}` : error.message;
  return new ApiError(message, { ...error, status: response.status });
}
