import { describe, expect, test } from "vitest";
import { singleAttempt, pollUntilReply } from "./poll-until-reply.ts";

const never = new AbortController().signal;
const limits = { silentMs: 20, everyMs: 1 };

const askAnyway = () => Promise.reject(new Error("asked"));

/** A connection that can be lost. */
function connection(isUp = true) {
  const listeners = new Set<(isUp: boolean) => void>();
  const onChange = (listener: (isUp: boolean) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const change = (up: boolean) => {
    for (const listener of listeners) listener(up);
  };
  return { isUp, onChange, change, listeners };
}

describe("a host that is asked", () => {
  test("is silent only when nobody has answered for the whole time", async () => {
    const state = connection();
    const askedAt = performance.now();
    let asked = 0;
    const ask = () => Promise.resolve(void asked++);
    expect(await pollUntilReply(ask, state, never, limits)).toBeUndefined();
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(limits.silentMs);
    expect(asked).toBeGreaterThan(1);
    expect(state.listeners.size).toBe(0);
  });

  test("is heard when nobody listened there for a moment", async () => {
    let asked = 0;
    const ask = () => Promise.resolve(++asked < 3 ? undefined : "busy");
    const patient = { silentMs: 60_000, everyMs: 1 };
    expect(await pollUntilReply(ask, connection(), never, patient)).toBe("busy");
  });

  test.each([
    ["lost", [false]],
    ["lost, and there again", [false, true]],
  ])("is not silent because the connection of the asker was %s", async (_, changes) => {
    const state = connection();
    const ask = () => {
      for (const up of changes) state.change(up);
      return Promise.resolve(undefined);
    };
    const asking = pollUntilReply(ask, state, never, { ...limits, silentMs: 0 });
    await expect(asking).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("is asked once when it was silent a moment ago", async () => {
    let asked = 0;
    const ask = () => Promise.resolve(void asked++);
    expect(await pollUntilReply(ask, connection(), never, singleAttempt)).toBeUndefined();
    expect(asked).toBe(1);
  });

  test("is not asked without a connection", async () => {
    const asking = pollUntilReply(askAnyway, connection(false), never);
    await expect(asking).rejects.toMatchObject({ kind: "unavailable" });
  });
});
