import type { Log, LogListener } from "../port.ts";

/** Returns a listener of a log. For a log that has none, one whose follower reads what was appended meanwhile. */
export function listenTo<Key, Event>(
  log: Pick<Log<Key, Event>, "follow" | "listen">,
  key: Key,
): LogListener<Event> {
  return (
    log.listen?.(key) ?? {
      follow: (after, signal) => log.follow(key, after, signal),
      [Symbol.dispose]: () => undefined,
    }
  );
}
