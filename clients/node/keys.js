// The keys of limits. conformance/values.json has cases that the clients for Python and node pass.

import { createHash } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";

/** The key of a limit for a value. No text is an error, so that no visitor can turn a limit off with a strange one. */
export function limitKey(name, value) {
  const text = textOf(value);
  if (/^[A-Za-z0-9._@:-]{1,64}$/.test(text)) return `${name}/${text}`;
  return `${name}/~${createHash("sha256").update(bytesOf(text)).digest("base64url").slice(0, 22)}`;
}

/** A text for a value of a type whose equal values have equal texts. */
function textOf(value) {
  if (typeof value === "string") return networkOf(value);
  if (Number.isSafeInteger(value) || typeof value === "bigint") return String(value);
  if (value == null) return "";
  // As Python writes it: half of a surrogate pair stands for itself.
  if (Array.isArray(value)) return JSON.stringify(value.map(textOf)).replace(/\\(?:u(d[89a-f]..)|.)/g, unescaped);
  throw new TypeError(`a key is a ${typeof value}; expected a string, a safe integer, null or undefined, or an array of them`);
}

const unescaped = (whole, code) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : whole);

/** The UTF-8 of a text; half of a surrogate pair has three bytes of its own. */
function bytesOf(text) {
  return Buffer.concat(text.split(/(\p{Surrogate})/u).map((part, index) => {
    const code = part.charCodeAt(0);
    return index % 2 === 0 ? Buffer.from(part) : Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
  }));
}

// Network addresses

/** What stands behind an address in the fields of a proxy: RFC 7239 also has ports that begin with "_". */
const port = /:(?:[0-9]*|_[A-Za-z0-9._-]*)$/;

/** The network of one visitor if the text is an address, however it is written; any other text as it is. */
export function networkOf(text) {
  const whole = trimmed(text);
  for (const form of [whole, whole.replace(port, "")]) {
    const inner = form.startsWith("[") && form.endsWith("]") ? form.slice(1, -1) : form;
    const address = inner.includes(":") ? inner.split("%", 1)[0] : inner; // without a zone
    if (isIPv4(address)) return address;
    if (isIPv6(address)) return networkOfGroups(groupsOf(address));
  }
  return text;
}

/** A text without spaces and quotes around it. In one pass, because visitors choose it. */
function trimmed(text) {
  const isLeftOut = (index) => [" ", "\t", '"'].includes(text[index]);
  let start = 0;
  let end = text.length;
  while (start < end && isLeftOut(start)) start += 1;
  while (end > start && isLeftOut(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** What the first groups of an IPv6 address are if its last two are an IPv4 address: ::ffff:0:0/96 and 64:ff9b::/96. */
const translated = ["0,0,0,0,0,65535", "100,65435,0,0,0,0"];

/** The /64 of an IPv6 address, because one visitor has all of its addresses, or the IPv4 address in it. */
function networkOfGroups(groups) {
  if (translated.includes(String(groups.slice(0, 6)))) {
    return groups.slice(6).flatMap((group) => [group >> 8, group & 255]).join(".");
  }
  return `${groups.slice(0, 4).map((group) => group.toString(16)).join(":").replace(/(^|:)0(:0)*$/, "")}::`;
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address) {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [first, second, third, fourth] = bytes.map(Number);
    return `${(first * 256 + second).toString(16)}:${(third * 256 + fourth).toString(16)}`;
  });
  const [head, tail] = plain.split("::").map((part) => part.split(":").filter(Boolean).map((group) => Number.parseInt(group, 16)));
  return tail ? [...head, ...Array(8 - head.length - tail.length).fill(0), ...tail] : head;
}
