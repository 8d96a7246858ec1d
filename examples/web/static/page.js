// The page: what the server says goes to the button, and what the visitor types goes to the server.

const { rule, state } = document.body.dataset;
const button = document.querySelector("resend-button");
const field = document.querySelector("code-field");
const message = document.querySelector("#message");

function say(text, kind = "") {
  message.textContent = text;
  message.className = kind;
}

function show({ waitMs, wholeMs, codes }) {
  button.count(waitMs, wholeMs);
  document.querySelector("#codes").textContent = codes === 1 ? "1 code left" : `${codes} codes left`;
}

async function post(path, body) {
  const reply = await fetch(`/${rule}/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (reply.status >= 500) throw new Error(`${reply.status}`);
  return { isRefused: reply.status === 429, after: Number(reply.headers.get("Retry-After")), ...(await reply.json()) };
}

button.action = async () => {
  try {
    const reply = await post("code", {});
    show(reply);
    say(reply.isRefused ? "A code is on its way already." : "Sent. It arrives within a minute.");
    field.clear();
  } catch {
    say("No connection. Please try again.", "wrong");
    throw new Error("the code was not sent");
  }
};

field.addEventListener("full", async () => {
  try {
    const { right, isRefused, after } = await post("check", { code: field.value });
    if (right) return say("Welcome back!", "right");
    say(isRefused ? `Too many tries. Again in ${after} s.` : "That is not the code.", "wrong");
  } catch {
    say("No connection. Please try again.", "wrong");
  }
  field.clear();
});

show(JSON.parse(state));
// It reconnects by itself. Meanwhile the button counts on.
new EventSource(`/${rule}/events`).onmessage = (event) => show(JSON.parse(event.data));
