// Middleware for express. express.d.ts documents it. Nothing of express is imported: it needs only node's request and response.

import { Limiter, rateLimitHeaders, retryAfterHeader } from "./limiter.js";

export { Relay } from "./relay.js";

export function rateLimit({ limits, key, weight, headers = "draft-11", refused = answer, ...options }) {
  if (!["draft-11", null].includes(headers)) throw new TypeError(`headers is ${headers}; expected draft-11 or null`);
  const named = Object.entries(limits).map(([name, limit]) => [name, readLimit(name, limit, key)]);
  const limiter = new Limiter(Object.fromEntries(named.map(([name, { rates }]) => [name, rates])), options);
  const valuesFor = async (request) => {
    return Object.fromEntries(await Promise.all(named.map(async ([name, limit]) => [name, await limit.key(request)])));
  };

  return async function limit(request, response, next) {
    if (isPreflight(request)) return next();
    try {
      const decision = await limiter.take(await valuesFor(request), { weight: await weight?.(request) });
      const all = noted(request, decision);
      if (!response.headersSent) {
        const fields = { ...(headers && rateLimitHeaders(all)), ...retryAfterHeader(decision) };
        for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
      }
      if (!decision.accepted) return await refuse(refused, request, response, decision, next);
    } catch (error) {
      return next(error);
    }
    return next();
  };
}

async function refuse(refused, request, response, decision, next) {
  if (response.headersSent) return undefined; // something else has answered meanwhile
  const { statusCode } = response;
  response.statusCode = decision.error ? 503 : 429;
  try {
    return await refused(request, response, decision, next);
  } catch (error) {
    response.statusCode = statusCode; // it is a fault of the program
    throw error;
  }
}

/** The decisions of the middlewares that a request has passed. */
const decisions = new WeakMap();

/** Sets request.rateLimit: the decision, together with those of earlier middlewares, which have accepted the request. */
function noted(request, decision) {
  const earlier = decisions.get(request);
  const all = earlier ? both(earlier, decision) : decision;
  decisions.set(request, all);
  request.rateLimit = all;
  return all;
}

function both(first, second) {
  return {
    ...second,
    error: second.error ?? first.error,
    limits: [...first.limits, ...second.limits],
    giveBack: async () => { await Promise.all([first.giveBack(), second.giveBack()]); },
  };
}

function readLimit(name, limit, key) {
  const isRate = typeof limit === "string" || Array.isArray(limit);
  const { rates, key: ofLimit = key } = isRate ? { rates: limit } : limit;
  if (typeof ofLimit === "function") return { rates, key: ofLimit };
  throw new TypeError(`the limit ${name} has no key; expected a function of the request, such as (request) => request.ip`);
}

/** A question of the browser before a request of another origin, which has no cookies and changes nothing. */
function isPreflight({ method, headers }) {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

const problem = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** Answers a refused request with a problem of RFC 9457. */
function answer(request, response, { limits, error }) {
  response.setHeader("Content-Type", "application/problem+json");
  const violated = limits.filter(({ hasRoom }) => !hasRoom).map(({ name }) => name);
  response.end(JSON.stringify(error
    ? { title: "The limits cannot be checked", status: 503 }
    : { type: problem, title: "Request cannot be satisfied as assigned quota has been exceeded", status: 429, "violated-policies": violated }));
}
