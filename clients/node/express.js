// For express. express.d.ts documents it. Nothing of express is imported: it needs only node's request and response.

export { Relay } from "./relay.js";
