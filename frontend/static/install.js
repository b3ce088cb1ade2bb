// The page as an app: a service worker keeps its files, so that it opens without the server and says so.

/** Only HTTPS and this machine may have one; elsewhere the page works as before. */
export function install() {
  if (!navigator.serviceWorker) return;
  addEventListener("load", () => navigator.serviceWorker.register("service-worker.js").catch(() => {}));
}
