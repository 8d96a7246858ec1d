/**
 * <resend-button>: a button that counts down after it was pressed.
 *
 * States: idle, sending, counting, again. A press calls `action`, an async function, and is ignored in every state but idle and
 * again. `count(milliseconds, whole)` starts, corrects or, with 0, ends the count; `whole` is the length of the ring.
 *
 * Attributes, which may change at any time; a title that is set while the button counts shows afterwards:
 *   label     the title: "Send code"
 *   again     the title after a count; `label` if it is missing
 *   sending   the title while `action` runs
 *   counting  the title while it counts, in which {time} is what remains: "0:42"
 */
class ResendButton extends HTMLElement {
  static observedAttributes = ["label", "again", "sending", "counting"];

  /** What a press does: an async function. If it throws, the button is as before. */
  action = async () => {};

  #state = "idle";
  #until = 0;
  #whole = 1;
  #timer;
  #button;
  #title;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.innerHTML = `
      <style>
        button {
          font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; width: 100%;
          border-radius: 14px; padding: 15px 22px; cursor: pointer; display: flex; justify-content: center; gap: 10px;
          align-items: center; transition: background 0.25s, color 0.25s; font-variant-numeric: tabular-nums;
        }
        button:hover { filter: brightness(1.07); }
        button:focus-visible { outline: 3px solid var(--glow); outline-offset: 2px; }
        button[aria-disabled=true] { background: var(--quiet); color: var(--on-quiet); cursor: default; filter: none; }
        svg { width: 22px; height: 22px; transform: rotate(-90deg); display: none; }
        button[data-state=counting] svg, button[data-state=sending] svg { display: block; }
        circle { fill: none; stroke-width: 3.4; stroke: var(--track); }
        circle + circle { stroke: var(--accent); stroke-linecap: round; stroke-dasharray: 100; }
        button[data-state=sending] svg { animation: turn 0.9s linear infinite; }
        @keyframes turn { to { transform: rotate(270deg); } }
        @media (prefers-reduced-motion: reduce) { svg { animation: none !important; } }
      </style>
      <button part="button" type="button">
        <svg viewBox="0 0 36 36" aria-hidden="true">
          <circle cx="18" cy="18" r="15.9"></circle><circle cx="18" cy="18" r="15.9" pathLength="100"></circle>
        </svg><span></span>
      </button>`;
    this.#button = root.querySelector("button");
    this.#title = root.querySelector("span");
    this.#button.addEventListener("click", () => this.#press());
  }

  /** idle, sending, counting or again. */
  get state() { return this.#state; }

  connectedCallback() { this.#show(); }

  disconnectedCallback() { clearTimeout(this.#timer); }

  attributeChangedCallback() { this.#show(); }

  count(milliseconds, whole = milliseconds) {
    const isCounting = milliseconds > 0;
    if (!isCounting && this.#state !== "counting") return;
    this.#until = performance.now() + milliseconds;
    this.#whole = whole;
    this.#state = isCounting ? "counting" : "again";
    this.#show();
  }

  async #press() {
    const before = this.#state;
    if (before !== "idle" && before !== "again") return;
    this.#state = "sending";
    this.#show();
    try {
      await this.action();
      if (this.#state === "sending") this.#state = "again";
    } catch (error) {
      if (this.#state === "sending") this.#state = before;
      throw error;
    } finally {
      this.#show();
    }
  }

  /** Computes what is shown from the end of the count; nothing is counted down. */
  #show() {
    clearTimeout(this.#timer);
    const left = this.#until - performance.now();
    if (this.#state === "counting" && left <= 0) this.#state = "again";
    const isCounting = this.#state === "counting";
    this.#title.textContent = isCounting ? this.#text("counting").replace("{time}", clock(left)) : this.#text(this.#state);
    this.#button.dataset.state = this.#state;
    this.#button.ariaDisabled = String(isCounting || this.#state === "sending");
    this.shadowRoot.querySelectorAll("circle")[1].style.strokeDashoffset = isCounting ? 100 - (100 * left) / this.#whole : 70;
    if (isCounting && this.isConnected) this.#timer = setTimeout(() => this.#show(), left % 1000 || 1000);
  }

  #text(state) {
    const label = this.getAttribute("label") ?? "";
    return (state === "idle" ? label : this.getAttribute(state)) ?? (state === "counting" ? "{time}" : label);
  }
}

/** 41.2 s are 0:42, as a clock that has not reached 0:41. */
function clock(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

customElements.define("resend-button", ResendButton);
