import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "./clock.ts";

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (delayMs, signal) => wait(delayMs, undefined, { signal }),
};
