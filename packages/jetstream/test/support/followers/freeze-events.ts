import type { EventRange } from "../../../src/log/port.ts";

/**
 * Returns a log that freezes, deeply, the events that it returns. Readers of a process share them, so that a reader that changes one
 * fails: a change would show in what others read.
 */
export function freezingEvents<AnyLog extends object>(log: AnyLog): AnyLog {
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const call = (given: readonly unknown[]): unknown => Reflect.apply(member, target, given);
      if (name === "read" || name === "last") {
        return async (...given: readonly unknown[]) => freezeEvents(await call(given));
      }
      if (name === "follow") return (...given: readonly unknown[]) => freezeEach(call(given));
      return (...given: readonly unknown[]) => call(given);
    },
  });
}

/** Freezes a value and all that it contains, except for the content of arrays of bytes, which cannot be frozen. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

function freezeEvents(range: unknown): unknown {
  // The callers pass what a log has returned.
  const { events } = range as EventRange<unknown>;
  for (const event of events) deepFreeze(event);
  return range;
}

async function* freezeEach(ranges: unknown): AsyncIterable<unknown> {
  for await (const range of ranges as AsyncIterable<unknown>) yield freezeEvents(range);
}
