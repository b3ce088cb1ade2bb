// The Books tab: what makes an audiobook today.

/** Fill the panel. */
export function mountBooks(panel) {
  const title = Object.assign(document.createElement("h2"), { textContent: "Audiobooks" });
  const what = document.createElement("p");
  const command = Object.assign(document.createElement("code"), { textContent: "kokoro-live book novel.epub" });
  what.append("On this server's machine, ", command, " makes an audiobook with chapters, and goes on after any end.");
  panel.append(title, what);
}
