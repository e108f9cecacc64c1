import { describe, expect, test } from "vitest";
import { singleAttempt, pollUntilReply } from "./poll-until-reply.ts";

const never = new AbortController().signal;
const limits = { timeoutMs: 20, intervalMs: 1 };

const unexpected = () => Promise.reject(new Error("requested"));

/** Creates the state of a connection that a test can lose. */
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

describe("a polled host", () => {
  test("is silent only after the whole timeout without a reply", async () => {
    const state = connection();
    const startedAt = performance.now();
    let requests = 0;
    const request = () => Promise.resolve(void requests++);
    expect(await pollUntilReply(request, state, never, limits)).toBeUndefined();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(limits.timeoutMs);
    expect(requests).toBeGreaterThan(1);
    expect(state.listeners.size).toBe(0);
  });

  test("is heard if it has no subscription for a moment", async () => {
    let requests = 0;
    const request = () => Promise.resolve(++requests < 3 ? undefined : "busy");
    const longer = { timeoutMs: 60_000, intervalMs: 1 };
    expect(await pollUntilReply(request, connection(), never, longer)).toBe("busy");
  });

  test.each([
    ["lost", [false]],
    ["lost and restored", [false, true]],
  ])("is not silent because the connection of the client was %s", async (_, changes) => {
    const state = connection();
    const request = () => {
      for (const up of changes) state.change(up);
      return Promise.resolve(undefined);
    };
    const polling = pollUntilReply(request, state, never, { ...limits, timeoutMs: 0 });
    await expect(polling).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("receives one request if it was silent a moment ago", async () => {
    let requests = 0;
    const request = () => Promise.resolve(void requests++);
    expect(await pollUntilReply(request, connection(), never, singleAttempt)).toBeUndefined();
    expect(requests).toBe(1);
  });

  test("receives no request without a connection", async () => {
    const polling = pollUntilReply(unexpected, connection(false), never);
    await expect(polling).rejects.toMatchObject({ kind: "unavailable" });
  });
});
