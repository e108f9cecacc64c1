import { describe, expect, test } from "vitest";
import { WorkspaceLock } from "./workspace-lock.ts";

const never = new AbortController().signal;

/** Returns the order in which the given requests were admitted so far. */
function admissions() {
  const order: string[] = [];
  const note = (name: string) => (leave: () => void) => {
    order.push(name);
    return leave;
  };
  return { order, note };
}

const settle = () => new Promise(setImmediate);

describe("a workspace", () => {
  test("is used alone when the commands that write have ended, before those that come later", async () => {
    const lock = new WorkspaceLock();
    const { order, note } = admissions();
    const first = await lock.write(never).then(note("first"));
    const second = await lock.write(never).then(note("second"));
    const alone = lock.takeAlone(never).then(note("alone"));
    const later = lock.write(never).then(note("later"));
    first();
    await settle();
    expect(order).toEqual(["first", "second"]);
    second();
    second();
    const leave = await alone;
    await settle();
    expect(order).toEqual(["first", "second", "alone"]);
    leave();
    (await later)();
    expect(order.at(-1)).toBe("later");
  });

  test("is not kept by a call that is aborted, whether it waits or was just admitted", async () => {
    const lock = new WorkspaceLock();
    const leave = await lock.write(never);
    const waiting = new AbortController();
    const alone = lock.takeAlone(waiting.signal);
    waiting.abort(new Error("gone"));
    await expect(alone).rejects.toThrow("gone");
    const admitted = new AbortController();
    const next = lock.takeAlone(admitted.signal);
    leave();
    admitted.abort(new Error("gone too"));
    await next.then((free) => free()).catch(() => undefined);
    (await lock.takeAlone(never))();
    (await lock.write(never))();
  });
});
