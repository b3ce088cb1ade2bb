// Keeps the page's files, for when the server is away. It answers for nothing else: speech and lists are the server's.

const FILES = ["./"];
const VERSION = "";
/* The server fills in both: names of all files of the page, and a sum of what is in them. */

addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)));
  skipWaiting();
});

addEventListener("activate", (event) => {
  const old = async () => {
    for (const name of await caches.keys()) if (name !== VERSION) await caches.delete(name);
  };
  event.waitUntil(old().then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const path = new URL(request.url).href.slice(registration.scope.length);
  if (request.method !== "GET" || !(path.startsWith("static/") || path.split(/[?#]/)[0] === "")) return;
  // The server's own first, so that a page never mixes two versions.
  const kept = () => caches.match(request, { ignoreSearch: true, ignoreVary: true });
  event.respondWith(fetch(request).catch(async (error) => (await kept()) ?? Promise.reject(error)));
});
