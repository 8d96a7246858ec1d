// The page: what the server says goes to the button, and what the visitor types goes to the server.

const { rule, state } = document.body.dataset;
const main = document.querySelector("main");
const button = document.querySelector("resend-button");
const field = document.querySelector("code-field");
const message = document.querySelector("#message");

const away = "The service is away. This page goes on by itself when it is back.";

function say(text, kind = "") {
  message.textContent = text;
  message.className = kind;
}

/** The steps: ask for a code, enter it, done. */
function go(step) {
  if (main.dataset.step !== "done") main.dataset.step = step;
}

function show({ waitMs, wholeMs, codes, isSent }) {
  button.count(waitMs, wholeMs);
  document.querySelector("#codes").textContent = codes === 1 ? "1 code left" : `${codes} codes left`;
  go(isSent ? "enter" : "ask");
}

async function post(path, body) {
  let reply;
  try {
    reply = await fetch(`/${rule}/${path}`, { method: "POST", body });
  } catch {
    throw new Error("No connection. Please try again.", { cause: "connection" });
  }
  // 503: the daemon is away.
  const cause = reply.status === 503 ? "connection" : "answer";
  if (!reply.ok && reply.status !== 429) throw new Error("That did not work. Please try again.", { cause });
  return { isRefused: reply.status === 429, after: Number(reply.headers.get("Retry-After")), ...(await reply.json()) };
}

button.action = async () => {
  try {
    const reply = await post("code");
    show(reply);
    say(reply.isRefused ? "A code is on its way already." : "Sent. It arrives within a minute.");
    field.clear();
  } catch (error) {
    say(error.message, "wrong");
    throw error;
  }
};

field.addEventListener("full", async () => {
  try {
    const { right, isRefused, after } = await post("check", field.value);
    if (right) {
      go("done");
      return document.querySelector("h1").focus(); // so that it is read out
    }
    refuse(isRefused ? `Too many tries. Again in ${after} s.` : "That is not the code.");
  } catch (error) {
    if (error.cause !== "connection") return refuse(error.message);
    field.focus(); // the code stays
    say(`${error.message} Enter sends the code again.`, "wrong");
  }
});

function refuse(text) {
  field.clear();
  field.setCustomValidity(text);
  say(text, "wrong");
}

// A message about a code goes when the next one is typed, so that the same message is read out again.
field.addEventListener("input", () => say(""));

// The state, whenever it changes. Meanwhile the button counts on. EventSource reconnects by itself if the connection breaks,
// but not after an error such as 502. Tabs that do not show have none: over HTTP/1.1 a browser has six connections to a host,
// for all its tabs.
let stream;
let pause;

function follow() {
  clearTimeout(pause);
  stream?.close();
  if (document.hidden) return;
  stream = new EventSource(`/${rule}/events`);
  stream.onmessage = (event) => {
    if (message.textContent === away) say("");
    show(JSON.parse(event.data));
  };
  stream.addEventListener("away", () => message.className !== "wrong" && say(away, "wrong"));
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) pause = setTimeout(follow, 1000 + 2000 * Math.random());
  };
}

show(JSON.parse(state));
(main.dataset.step === "enter" ? field : button).focus();
document.addEventListener("visibilitychange", follow);
follow();
