/**
 * <resend-button>: a button that counts down after it was pressed.
 *
 * States: idle, sending, counting, again. A press calls `action`, an async function, and is ignored in every state but idle and
 * again. `count(milliseconds, whole)` starts, corrects or, with 0, ends the count; `whole` is the length of the ring. A count
 * that is reported while `action` runs shows when it has ended, also if it has failed.
 *
 * Attributes, which may change at any time; a title that is set while the button counts shows afterwards:
 *   label     the title: "Send code"
 *   sending   the title while `action` runs; the one from before the press if it is missing
 *   counting  the title while it counts, in which {time} is what remains, as "0:42", or {s} the seconds, {ss} with two digits
 *   again     the title after a count; `label` if it is missing
 *   ready     read out by screen readers when a count ends; the title if it is missing
 */
class ResendButton extends HTMLElement {
  static observedAttributes = ["label", "again", "sending", "counting"];

  /** What a press does: an async function. If it throws, the button is as before. */
  action = async () => {};

  #isSending = false;
  #isAgain = false;
  #until; // when the count ends; undefined if there is none
  #whole = 1;
  #timer;
  #button;
  #title;
  #spoken;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [style];
    root.innerHTML = `
      <button part="button" type="button">
        <svg viewBox="0 0 36 36" aria-hidden="true">
          <circle cx="18" cy="18" r="15.9"></circle><circle cx="18" cy="18" r="15.9" pathLength="100"></circle>
        </svg><span></span>
      </button>
      <output></output>`;
    this.#button = root.querySelector("button");
    this.#title = root.querySelector("span");
    this.#spoken = root.querySelector("output");
    this.#button.addEventListener("click", () => this.#press());
  }

  /** idle, sending, counting or again. */
  get state() {
    if (this.#isSending) return "sending";
    if (this.#left > 0) return "counting";
    return this.#isAgain || this.#until !== undefined ? "again" : "idle";
  }

  connectedCallback() { this.#show(); }

  disconnectedCallback() { clearTimeout(this.#timer); }

  attributeChangedCallback() { this.#show(); }

  count(milliseconds, whole = milliseconds) {
    if (milliseconds > 0) {
      this.#until = performance.now() + milliseconds;
      this.#whole = whole;
    } else {
      this.#end();
    }
    this.#show();
  }

  /** What remains, computed from the end of the count: nothing is counted down. */
  get #left() { return this.#until === undefined ? 0 : this.#until - performance.now(); }

  #end() {
    this.#isAgain ||= this.#until !== undefined;
    this.#until = undefined;
  }

  async #press() {
    if (this.#isSending || this.#left > 0) return;
    this.#end();
    this.#isSending = true;
    this.#show();
    try {
      await this.action();
      this.#isAgain ||= this.#until === undefined;
    } finally {
      this.#isSending = false;
      this.#show();
    }
  }

  #show() {
    clearTimeout(this.#timer);
    const { state } = this;
    const left = this.#left;
    const isCounting = state === "counting";
    this.#title.textContent = this.#text(state, left);
    if (state !== "again") this.#spoken.textContent = "";
    const hasEnded = state === "again" && this.#button.dataset.state === "counting";
    if (hasEnded) this.#spoken.textContent = this.getAttribute("ready") ?? this.#text(state);
    this.#button.dataset.state = state;
    this.#button.ariaDisabled = String(isCounting || state === "sending");
    this.shadowRoot.querySelectorAll("circle")[1].style.strokeDashoffset = isCounting ? 100 - (100 * left) / this.#whole : 70;
    if (isCounting && this.isConnected) this.#timer = setTimeout(() => this.#show(), left % 1000 || 1000);
  }

  #text(state, left) {
    const label = this.getAttribute("label") ?? "";
    const again = this.getAttribute("again") ?? label;
    switch (state) {
      case "counting": return remainingText(this.getAttribute("counting") ?? "{time}", left);
      case "sending": return this.getAttribute("sending") ?? (this.#isAgain ? again : label);
      default: return state === "again" ? again : label;
    }
  }
}

/** A text with what remains in its places. A second that has begun counts as whole: 41.2 s are 0:42. */
function remainingText(pattern, milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  const places = { s: seconds, ss: twoDigits(seconds), time: clock(seconds) };
  return pattern.replace(/\{(s|ss|time)\}/g, (_, place) => places[place]);
}

/** As timers show it: 0:07, 4:59, 1:02:03, 3d 4:05:06. */
function clock(seconds) {
  const [days, hours] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24];
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, twoDigits(seconds % 60)];
  if (days > 0) return `${days}d ${hours}:${twoDigits(minutes)}:${rest}`;
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

function twoDigits(number) { return String(number).padStart(2, "0"); }

const style = new CSSStyleSheet(); // a <style> element would need style-src 'unsafe-inline'
style.replaceSync(`
  button {
    font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0.125rem solid transparent;
    width: 100%; border-radius: 0.875rem; padding: 0.8125rem 1.25rem; cursor: pointer; display: flex; justify-content: center;
    gap: 0.625rem; align-items: center; transition: background 0.25s, color 0.25s; font-variant-numeric: tabular-nums;
  }
  button:hover { filter: brightness(1.07); }
  button:focus-visible { outline: 0.1875rem solid var(--accent); outline-offset: 0.125rem; }
  button[aria-disabled=true] { background: var(--quiet); color: var(--on-quiet); cursor: default; filter: none; }
  svg { width: 1.375rem; height: 1.375rem; transform: rotate(-90deg); display: none; }
  button[data-state=counting] svg, button[data-state=sending] svg { display: block; }
  circle { fill: none; stroke-width: 3.4; stroke: var(--line); }
  circle + circle { stroke: var(--accent); stroke-linecap: round; stroke-dasharray: 100; }
  button[data-state=sending] svg { animation: turn 0.9s linear infinite; }
  output { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  @keyframes turn { to { transform: rotate(270deg); } }
  @media (prefers-reduced-motion: reduce) { button, svg { animation: none !important; transition: none; } }
`);

customElements.define("resend-button", ResendButton);
