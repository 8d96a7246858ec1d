import { codeIn, digitsOf } from "./code-search.js";

/**
 * <code-field length="6">: one box for each digit of a code, over one text field, so that phones offer the code they received.
 *
 * Digits of any script count. What is typed past the end is cut. Digits that are pasted or filled in keep the last ones that
 * fit; in a message the code is searched, and if it is not clear, the visitor types it. A full code leaves the field and sends
 * the event "full"; Enter in a full field sends it again.
 * `length` and `gap` (pixels) may change at any time, which clears the field. `value` is the typed digits; each change by the
 * visitor sends "input". `setCustomValidity` marks the code as wrong until then, as for other fields of a form.
 */
class CodeField extends HTMLElement {
  static formAssociated = true;
  static observedAttributes = ["length", "gap"];

  #input;
  #boxes;
  #internals = this.attachInternals();

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [style];
    root.innerHTML = `
      <input inputmode="numeric" autocomplete="one-time-code" autocapitalize="off" spellcheck="false">
      <div class="boxes" part="boxes" aria-hidden="true"></div>`;
    this.#input = root.querySelector("input");
    this.#boxes = root.querySelector(".boxes");
    this.#input.addEventListener("input", (event) => this.#take(TYPING.test(event.inputType)));
    this.#input.addEventListener("keydown", (event) => event.key === "Enter" && this.#sendIfFull());
    this.#input.addEventListener("paste", (event) => this.#paste(event));
    // The cursor is behind the last digit.
    for (const type of ["focus", "click", "keyup"]) this.#input.addEventListener(type, () => this.#moveToEnd());
  }

  get value() { return this.#input.value; }

  set value(text) {
    this.#input.value = codeIn(text, this.length);
    this.#show();
  }

  get length() { return Math.max(1, Number(this.getAttribute("length")) || 4); }

  set length(count) { this.setAttribute("length", count); }

  connectedCallback() { this.attributeChangedCallback(); }

  attributeChangedCallback() {
    this.#input.value = "";
    this.#input.ariaLabel = this.getAttribute("aria-label") ?? `Code of ${this.length} digits`;
    this.#boxes.replaceChildren(...Array.from({ length: this.length }, () => document.createElement("span")));
    this.#boxes.style.gap = this.hasAttribute("gap") ? `${this.getAttribute("gap")}px` : "";
    this.#show();
  }

  clear() {
    this.value = "";
    this.#input.focus();
  }

  setCustomValidity(message) {
    this.#internals.setValidity({ customError: message !== "" }, message, this.#input);
    this.#input.ariaInvalid = String(message !== "");
    this.#input.ariaDescription = message;
  }

  #paste(event) {
    event.preventDefault();
    const text = event.clipboardData.getData("text");
    const found = codeIn(text, this.length);
    if (found === "") return;
    this.#input.value = found.length === this.length ? found : (this.value + found).slice(0, this.length);
    this.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
    this.#take(true);
  }

  #take(isTyped) {
    this.setCustomValidity("");
    this.#input.value = isTyped ? digitsOf(this.value).slice(0, this.length) : codeIn(this.value, this.length);
    this.#show();
    this.#sendIfFull();
  }

  #sendIfFull() {
    if (this.value.length < this.length) return;
    this.#input.blur();
    this.dispatchEvent(new CustomEvent("full", { detail: this.value, bubbles: true }));
  }

  #moveToEnd() { this.#input.setSelectionRange(this.value.length, this.value.length); }

  #show() {
    [...this.#boxes.children].forEach((box, index) => {
      box.textContent = this.value[index] ?? "";
      box.className = index < this.value.length ? "filled" : index === this.value.length ? "cursor" : "";
    });
    this.#internals.setFormValue(this.value);
  }
}

/** The types of input by a keyboard, also one that completes words. */
const TYPING = /^(?:insertText|insertCompositionText|delete)/;

const style = new CSSStyleSheet(); // a <style> element would need style-src 'unsafe-inline'
style.replaceSync(`
  :host { display: block; position: relative; }
  input { position: absolute; inset: 0; width: 100%; opacity: 0; border: 0; font-size: 1rem; cursor: text; }
  .boxes { display: flex; gap: 0.625rem; justify-content: center; pointer-events: none; }
  .boxes span {
    flex: 1 1 0; min-width: 0; max-width: 3.5rem; height: 3.875rem; display: grid; place-items: center; font-size: 1.75rem;
    font-weight: 600; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--box); position: relative;
    transition: border-color 0.2s; font-variant-numeric: tabular-nums;
  }
  .boxes span::after {
    content: ""; position: absolute; inset: auto 22% 0.5rem; border-bottom: 0.1875rem solid var(--line);
    border-radius: 0.125rem; transition: border-color 0.2s;
  }
  .boxes span.filled::after { border-color: var(--accent); }
  input:focus + .boxes span.cursor { outline: 0.1875rem solid var(--accent); outline-offset: -0.125rem; }
  input:focus + .boxes span.cursor::before {
    content: ""; height: 1.625rem; border-left: 0.125rem solid var(--accent); animation: blink 1.1s steps(1) infinite;
  }
  :host(:invalid) .boxes span { border: 0.125rem solid var(--wrong); }
  :host(:invalid) .boxes span::after { border-color: var(--wrong); }
  @keyframes blink { 50% { opacity: 0; } }
  @media (prefers-reduced-motion: reduce) {
    .boxes span, .boxes span::before, .boxes span::after { animation: none !important; transition: none; }
  }
`);

customElements.define("code-field", CodeField);
