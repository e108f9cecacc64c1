import { listenTo } from "./follow/listen-to.ts";
import type { Log } from "./port.ts";

/** Wraps a log so that `observe` is called with each batch that was appended through it, once, after the batch is stored. */
export function withAppendObserver<Key, Event>(
  log: Log<Key, Event>,
  observe: (events: readonly Event[]) => void,
): Log<Key, Event> {
  return {
    async append(key, tail, events, signal) {
      const outcome = await log.append(key, tail, events, signal);
      if (outcome.kind === "appended") observe(events);
      return outcome;
    },
    read: (key, tail, signal) => log.read(key, tail, signal),
    ...(log.readHeld && { readHeld: async (...given) => await log.readHeld?.(...given) }),
    follow: (key, after, signal) => log.follow(key, after, signal),
    listen: (key) => listenTo(log, key),
  };
}
