// A web server with 8 workers and one limit: it prints its address, and ends with its standard input.

import cluster from "node:cluster";
import { createRequire } from "node:module";
import { rateLimit } from "../../node/express.js";

const workers = 8;

if (cluster.isPrimary) {
  let ready = 0;
  cluster.on("listening", (worker, { port }) => {
    ready += 1;
    if (ready === workers) console.log(`http://127.0.0.1:${port}`);
  });
  for (let count = 0; count < workers; count += 1) cluster.fork();
  process.stdin.on("end", () => process.exit()).resume();
} else {
  const app = createRequire(import.meta.url)("express")();
  app.use(rateLimit({ limits: { api: "100/1h" }, key: () => "all", onFailure: "closed", timeout: 20_000, firstTimeout: 20_000 }));
  app.get("/", (request, response) => response.send(String(process.pid)));
  app.listen(0, "127.0.0.1");
}
