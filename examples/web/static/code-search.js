/**
 * The search for a code of digits in a text that was pasted or filled in, such as a whole message: by the same rules as
 * CodeSearch and CodeNames of CountdownControls, and the same cases.
 *
 * A code is read as a whole. A word is a row of letters and digits; an item is a row of words that are joined by single hyphens,
 * or by single spaces between digits. An item is a code if it has as many digits; words of letters at its ends, as in G-482913,
 * do not count. No code is a number with marks between its digits (10:30, 14.03.2026, 1234.56), beside the sign of a currency,
 * or behind a plus sign. If there are several codes, the one nearest to a word for code is meant.
 */

// Only letters of alphabets with capitals join digits to a word; Chinese, Korean or Thai is written beside a number.
const WORD = /[\p{Cased}\d][\p{Cased}\d\p{M}]*/gu;
const HYPHEN = /[\p{Pd}\u2212]/u;
const SPACE = /\p{Zs}/u;
const NUMBER_MARK = /[.:/,．：／]/;
const CHINESE =
  "验证码|驗證碼|校验码|校驗碼|动态码|動態碼|确认码|確認碼|认证码|認證碼|安全码|安全碼|授权码|授權碼|激活码|密码|密碼|口令";
const NAME = new RegExp(
  `(?<!\\p{Cased})(?:\\p{Cased}*(?:codes?|passwor[dt]|kennwort)|otp|pin|m?tan|token)(?!\\p{Cased})|${CHINESE}`, "giu");
// The code stands behind the word.
const POINTER = /^\p{Zs}*(?:[:：=是为為]|(?:is|ist|lautet)(?!\p{Cased}))/iu;
const ENDS_WITH_POINTER = /(?:[:：=是为為]|(?<!\p{Cased})(?:is|ist|lautet))\s*$/iu;
const CLAUSE_END = /[,;，；、]/;
// A line ends a sentence, too, unless it announces the next one by a colon.
const SENTENCE_END = /[。！？]|[.!?](?=\s|$)|(?<![:：]\s*)[\n\r]/gu;

/** The digits to put into a field of `length` boxes: fewer if the text has no more, none if it has no code. */
export function codeIn(text, length) {
  const plain = withDigits(text);
  const items = itemsOf(plain);
  const [first] = items;
  const isAlone = first && plain.trim() === plain.slice(first.start, first.end);
  if (isAlone && isWhole(first)) {
    const digits = digitsOf(first.text);
    // Digits without a gap are a code that is too long, or one that is being typed; a group is whole.
    if (digits.length <= length || first.words.length === 1) return digits.slice(-length);
  }
  const candidates = items.flatMap((item) => candidate(plain, item, length) ?? []);
  return theOnly(candidates) ?? nearest(plain, candidates) ?? "";
}

/** The digits of a text as 0 to 9; other characters are dropped. */
export function digitsOf(text) { return withDigits(text).replace(/\D/g, ""); }

function itemsOf(text) {
  const items = [];
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    const next = { word, start, end: start + word.length };
    const words = items.at(-1);
    if (words && joins(text, words.at(-1), next)) words.push(next);
    else items.push([next]);
  }
  return items.map((words) => item(text, words));
}

function item(text, words) {
  const [start, end] = [words[0].start, words.at(-1).end];
  return { words, start, end, text: text.slice(start, end) };
}

function joins(text, before, next) {
  if (next.start !== before.end + 1) return false;
  const mark = text[before.end];
  if (HYPHEN.test(mark)) return true;
  if (SPACE.test(mark)) return isDigits(before.word) && isDigits(next.word);
  if (!NUMBER_MARK.test(mark) || !/\d/.test(text[before.end - 1]) || !/\d/.test(text[next.start])) return false;
  // A comma does not join if a letter follows: 1234,5分钟 is a code and a time.
  return mark !== "," || !isDigits(next.word) || !/^\p{Alphabetic}/u.test(text.slice(next.end));
}

function isDigits(word) { return /^\d+$/.test(word); }

function isWhole({ words, text }) { return words.every(({ word }) => isDigits(word)) && !NUMBER_MARK.test(text); }

function candidate(text, { words }, length) {
  const hasDigits = ({ word }) => /\d/.test(word);
  const inner = words.slice(words.findIndex(hasDigits), words.findLastIndex(hasDigits) + 1);
  if (inner.length === 0) return undefined;
  const found = item(text, inner);
  const code = digitsOf(found.text);
  return isWhole(found) && code.length === length && !isAmount(text, found) ? { ...found, code } : undefined;
}

/** Whether it is an amount of money or the number of a phone. */
function isAmount(text, { start, end }) {
  return /\+$|\p{Sc}\p{Zs}?$/u.test(text.slice(0, start)) || /^\p{Zs}?\p{Sc}/u.test(text.slice(end));
}

function theOnly(candidates) {
  const codes = new Set(candidates.map(({ code }) => code));
  return codes.size === 1 ? candidates[0].code : undefined;
}

function nearest(text, candidates) {
  const names = Array.from(text.matchAll(NAME), ({ 0: name, index: start }) => ({ start, end: start + name.length }));
  const places = candidates.flatMap((found) => names.map((name) => ({ ...found, place: place(text, found, name) })));
  const least = Math.min(...places.map((found) => found.place));
  return least < Infinity ? theOnly(places.filter((found) => found.place === least)) : undefined;
}

/** How near a code is to a word: in the same clause, then sentence, first; there, as the word names it; then by characters. */
function place(text, found, name) {
  const isBehind = found.start >= name.end;
  if (!isBehind && POINTER.test(text.slice(name.end))) return Infinity;
  const [start, end] = isBehind ? [name.end, found.start] : [found.end, name.start];
  const hasSentenceEnd = Array.from(text.matchAll(SENTENCE_END)).some(({ index }) => index >= start && index < end);
  const gap = text.slice(start, end);
  const rank = hasSentenceEnd ? 2 : CLAUSE_END.test(gap) ? 1 : 0;
  const isNamed = gap.trim() === "" || (isBehind ? ENDS_WITH_POINTER : POINTER).test(gap);
  return (2 * rank + (isNamed ? 0 : 1)) * 1e9 + end - start;
}

/**
 * The text with one character each in its place: digits of any script as 0 to 9, as input methods send others, and characters
 * beyond the basic plane as a letter or as no letter.
 */
function withDigits(text) {
  const other = (character) => (/\p{Cased}/u.test(character) ? "x" : "\uFFFD");
  return Array.from(text, (character) => digitValue(character) ?? (character.length > 1 ? other(character) : character))
    .join("");
}

/** The value of a decimal digit; undefined for other characters. Unicode has the ten digits of each script in a row. */
function digitValue(character) {
  const isDigit = (code) => /\p{Nd}/u.test(String.fromCodePoint(code));
  const code = character.codePointAt(0);
  if (!isDigit(code)) return undefined;
  let before = 0;
  while (isDigit(code - before - 1)) before += 1;
  return before % 10;
}
