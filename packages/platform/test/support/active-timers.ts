import process from "node:process";

/** Returns how many timers this process waits for. Compare two counts between which only microtasks ran. */
export function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
