// Files that are dropped anywhere on the page, or chosen, or that the bookmark "Read this page aloud" puts into the address.

const SENT = "#html=";

/**
 * @param elements {drop: shown while a file hovers over the page, open: a button, file: an input of type file}
 * @param onFile called with each File
 */
export function takeFiles({ drop, open, file }, onFile) {
  let inside = 0; // elements that are hovered over: entering one leaves another
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  const show = (change) => {
    inside = change && Math.max(0, inside + change);
    drop.hidden = inside === 0;
  };
  addEventListener("dragenter", (event) => hasFile(event) && show(1));
  addEventListener("dragleave", (event) => hasFile(event) && show(-1));
  addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFile(event) || event.defaultPrevented) return;
    event.preventDefault();
    show(0);
    onFile(event.dataTransfer.files[0]);
  });
  open.addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    if (file.files.length) onFile(file.files[0]);
    file.value = "";
  });
  if (location.hash.startsWith(SENT)) {
    const source = location.hash.slice(SENT.length);
    history.replaceState(null, "", location.pathname); // no history keeps a page's text
    onFile(new File([decodeURIComponent(source)], "page.html"));
  }
}
