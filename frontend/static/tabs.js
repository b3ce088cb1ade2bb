// Tabs as WAI-ARIA's authoring practices have them: arrow keys go from one to the next, the address keeps the choice.

export class Tabs {
  #tabs;
  #onShow;

  /**
   * @param {Element} list the tablist
   * @param onShow called with a panel's id each time that it is shown
   */
  constructor(list, onShow) {
    this.#tabs = [...list.querySelectorAll("[role=tab]")];
    this.#onShow = onShow;
    list.addEventListener("click", ({ target }) => {
      const tab = target.closest("[role=tab]");
      if (tab) this.show(panelOf(tab).id);
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const next = (this.#tabs.indexOf(event.target) + step + this.#tabs.length) % this.#tabs.length;
      this.show(panelOf(this.#tabs[next]).id);
      this.#tabs[next].focus();
    });
    addEventListener("hashchange", () => this.#follow());
  }

  /** Show the panel that the address names, or the first. */
  start() {
    this.#follow();
  }

  show(id) {
    for (const tab of this.#tabs) {
      const panel = panelOf(tab);
      const shown = panel.id === id;
      tab.ariaSelected = String(shown);
      tab.tabIndex = shown ? 0 : -1;
      panel.hidden = !shown;
    }
    const first = this.#tabs[0].getAttribute("aria-controls");
    if ((location.hash.slice(1) || first) !== id) history.replaceState(null, "", id === first ? location.pathname : `#${id}`);
    this.#onShow(id);
  }

  #follow() {
    const named = this.#tabs.map((tab) => panelOf(tab).id);
    const wanted = location.hash.slice(1);
    this.show(named.includes(wanted) ? wanted : named[0]);
  }
}

function panelOf(tab) {
  return document.getElementById(tab.getAttribute("aria-controls"));
}
