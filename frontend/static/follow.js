// Keeps what is read in sight, unless a person has scrolled elsewhere.

const BAND = { top: 0.18, bottom: 0.62 }; // of the window's height

export class Follow {
  #button;
  #element = null;
  #away = false;

  /** @param {Element} button brings what is read back into sight; hidden while it is in sight */
  constructor(button) {
    this.#button = button;
    const leave = () => {
      this.#away = this.#element !== null && !this.#seen();
      this.#button.hidden = !this.#away;
    };
    // A scroll of ours has no wheel, finger or key before it.
    for (const hand of ["wheel", "touchmove"]) addEventListener(hand, () => setTimeout(leave, 150), { passive: true });
    addEventListener("keydown", ({ key }) => /^(Page|Arrow(Up|Down)|Home|End)/.test(key) && setTimeout(leave, 150));
    button.addEventListener("click", () => this.back());
  }

  /** That element is read now; null: nothing is. */
  show(element) {
    this.#element = element;
    if (!element) this.#away = false;
    this.#button.hidden = !this.#away;
    if (!element || this.#away) return;
    const { top, bottom } = element.getBoundingClientRect();
    if (top < innerHeight * BAND.top || bottom > innerHeight * BAND.bottom) this.#scroll(top);
  }

  /** Follow again. */
  back() {
    this.#away = false;
    this.#button.hidden = true;
    if (this.#element) this.#scroll(this.#element.getBoundingClientRect().top);
  }

  #seen() {
    const { top, bottom } = this.#element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  #scroll(top) {
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    scrollBy({ top: top - innerHeight * 0.3, behavior });
  }
}
