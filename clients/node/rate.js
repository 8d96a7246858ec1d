// Rates such as 5/1h, by the rules of countdownctl: clients/conformance/rates.json has cases that all clients pass.

/** The units of a period in microseconds, the greatest first, with their other names. */
const units = [
  ["w", 604_800_000_000, "week weeks"],
  ["d", 86_400_000_000, "day days"],
  ["h", 3_600_000_000, "hr hrs hour hours"],
  ["m", 60_000_000, "min mins minute minutes"],
  ["s", 1_000_000, "sec secs second seconds"],
  ["ms", 1000, "msec"],
  ["us", 1, "µs μs usec"],
];
const lengths = new Map(units.flatMap(([unit, length, names]) => [unit, ...names.split(" ")].map((name) => [name, length])));
const century = 100 * 365.25 * 86_400_000_000;

/** The microseconds of a period such as 90, 10m, 1h30m or 1:30; undefined if it is not one. */
function parsePeriod(text) {
  const clock = /^ *([0-9]+):([0-5][0-9])(?::([0-5][0-9]))? *$/.exec(text);
  if (clock) return clock.slice(1).filter(Boolean).reduce((sum, field) => sum * 60 + Number(field), 0) * 1_000_000;
  let total = 0;
  for (let rest = text.replace(/^ +/, ""), isFirst = true; ; isFirst = false) {
    const [part, number, unit] = /^([0-9]+(?:[.,][0-9]+)?|\.[0-9]+) *([A-Za-zµμ]*) */.exec(rest) ?? [];
    // A comma may also separate thousands.
    if (!part || /^[1-9][0-9]{0,2},[0-9]{3}$/.test(number)) return undefined;
    rest = rest.slice(part.length);
    const length = unit || rest || !isFirst ? lengths.get(unit) : 1_000_000;
    if (!length) return undefined;
    const [whole, fraction = ""] = number.split(/[.,]/);
    total += Math.floor((Number(whole + fraction) * length) / 10 ** fraction.length);
    if (!rest) return total;
    rest = rest.replace(/^,? *(?:and(?![A-Za-z]) *)?/i, "");
  }
}

/**
 * Reads a number of times per period: 3/10m is three times at once, then once per 3:20.
 *
 * @returns the times, and in microseconds: the period; the interval, which each time adds to the countdown; and the most that
 *   may remain.
 */
export function parseRate(text) {
  const [, number, rest] = /^([0-9]+)\/(.*)$/.exec(text) ?? [];
  const times = Number(number);
  const period = parsePeriod(rest ?? "");
  if (times > 0 && times <= period && period <= century) {
    const interval = Math.ceil(period / times);
    return { times, period, interval, upTo: times * interval };
  }
  throw new RangeError(`rate is ${JSON.stringify(text)}; expected a number and a period of at most 100 years, such as 3/10m`);
}

/** The keys of the rates of one key: the key itself, then for each further rate the key with its period, such as KEY/1d. */
export function rateKeys(key, rates) {
  const periods = rates.map((rate) => periodText(parseRate(rate).period));
  const twice = periods.find((period, index) => periods.indexOf(period) < index);
  if (twice) throw new RangeError(`the period ${twice} has two rates; expected each period once`);
  return periods.map((period, index) => (index === 0 ? key : `${key}/${period}`));
}

/** A period in its greatest whole unit. */
function periodText(period) {
  const [unit, length] = units.find(([, length]) => period % length === 0);
  return `${period / length}${unit}`;
}
