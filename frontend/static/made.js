// Elements from their properties and children, and files.

export function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Have the browser keep something as a file. */
export function keepAsFile(blob, name) {
  const plain = name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, " ").trim();
  const link = made("a", { href: URL.createObjectURL(blob), download: plain.replace(/^\./, "speech.") });
  link.click();
  // The click has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
