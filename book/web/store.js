// The progress store as a file of its own: pages load it when something first needs it, once for
// all that do (common/progress-store.js), so that no page pays for it at first.

export { openStore } from "./drill/store.js";
