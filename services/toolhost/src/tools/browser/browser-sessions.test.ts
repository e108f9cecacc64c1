import { once } from "node:events";
import type { NetworkUse } from "@reeve/sandbox/port";
import { describe, expect, test } from "vitest";
import type { BrowserProcess } from "./browser-process.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import type { GuardedPage, PageOutcome } from "./guarded-page.ts";

const never = new AbortController().signal;

interface FakeOptions {
  readonly idleMs?: number;
  readonly keptMs?: number;
  /** The runs that are over. */
  readonly over?: readonly string[];
}

/** Browsers without pages, which tell the runs for which they were started and ended. */
function fakeBrowsers({ idleMs, keptMs, over = [] }: FakeOptions = {}) {
  const started: string[] = [];
  const ended: string[] = [];
  const renewed: string[] = [];
  const events = new EventTarget();
  const crashes = new Map<string, (reason: string) => void>();
  const start = ({ runId }: NetworkUse): Promise<BrowserProcess> => {
    started.push(runId);
    const { promise, resolve } = Promise.withResolvers<string>();
    crashes.set(runId, resolve);
    return Promise.resolve({
      // No operation of these tests uses it.
      page: {} as GuardedPage,
      ended: promise,
      renewNetwork: ({ callId }) => void renewed.push(callId),
      [Symbol.asyncDispose]: async () => {
        ended.push(runId);
        events.dispatchEvent(new Event("ended"));
      },
    });
  };
  const sessions = new BrowserSessions({
    max: 4,
    start,
    isRunOver: ({ run }) => Promise.resolve(over.includes(run)),
    ...(idleMs !== undefined && { idleMs }),
    ...(keptMs !== undefined && { keptMs }),
  });
  return { sessions, started, renewed, ended, crashes, events };
}

const owner = (runId: string, tenant = "acme", allow = ["a.test:443"], delegateId = "") => ({
  tenant,
  delegateId,
  network: { allow, runId, callId: `${runId}-call` },
});
const broken = () => Promise.reject(new Error("the call was cancelled"));
const done = (): Promise<PageOutcome<string>> => Promise.resolve({ kind: "done", value: "a" });

// Requirement: WEB-8
describe("the browsers of a toolhost", () => {
  test("are one for each run, which its calls share", async () => {
    const { sessions, started } = fakeBrowsers();
    await sessions.open(owner("run_1"), done, never);
    expect(await sessions.continue(owner("run_1"), done, never)).toMatchObject({ kind: "done" });
    expect(await sessions.continue(owner("run_2"), done, never)).toMatchObject({
      reason: expect.stringMatching(/no open page/) as string,
    });
    expect(started).toEqual(["run_1"]);
  });

  test("are limited, and no tenant has more than half of them", async () => {
    const { sessions } = fakeBrowsers();
    const open = (runId: string, tenant: string) =>
      sessions.open(owner(runId, tenant), done, never);
    await open("run_1", "acme");
    await open("run_2", "acme");
    await expect(open("run_3", "acme")).rejects.toThrow(/^busy: .*try again/);
    await open("run_4", "globex");
    await open("run_5", "globex");
    await expect(open("run_6", "initech")).rejects.toThrow(/^busy/);
  });

  test("end when they are idle, lost, or may reach other hosts", async () => {
    const idle = fakeBrowsers({ idleMs: 1 });
    await idle.sessions.open(owner("run_1"), done, never);
    await once(idle.events, "ended");
    expect(idle.sessions.count).toBe(0);
    const { sessions, ended, crashes, events } = fakeBrowsers();
    await sessions.open(owner("run_2"), done, never);
    const crashed = once(events, "ended");
    crashes.get("run_2")?.("it was killed");
    await crashed;
    await sessions.open(owner("run_3"), done, never);
    expect(
      await sessions.continue(owner("run_3", "acme", ["b.test:443"]), done, never),
    ).toMatchObject({ reason: expect.stringMatching(/other hosts than when/) as string });
    expect(ended).toEqual(["run_2", "run_3"]);
    expect(sessions.count).toBe(0);
  });

  test("make room for a run of the tenant when theirs is over, or does not use them", async () => {
    const over = fakeBrowsers({ over: ["run_1"] });
    for (const run of ["run_1", "run_2", "run_3"])
      await over.sessions.open(owner(run), done, never);
    expect(over.ended).toEqual(["run_1"]);
    await expect(over.sessions.open(owner("run_4"), done, never)).rejects.toThrow(/^busy/);
    const idle = fakeBrowsers({ keptMs: 0 });
    for (const run of ["run_1", "run_2"]) await idle.sessions.open(owner(run), done, never);
    await idle.sessions.continue(owner("run_1"), done, never);
    await idle.sessions.open(owner("run_3"), done, never);
    expect(idle.ended).toEqual(["run_2"]);
  });

  test("are not taken from a call, and count until they have ended", async () => {
    const { sessions, ended } = fakeBrowsers({ keptMs: 0, over: ["run_1", "run_2"] });
    const using = Promise.withResolvers<PageOutcome<string>>();
    const first = sessions.open(owner("run_1"), () => using.promise, never);
    const second = sessions.open(owner("run_2"), () => using.promise, never);
    await expect(sessions.open(owner("run_3"), done, never)).rejects.toThrow(/^busy/);
    using.resolve({ kind: "failed", reason: "it crashed", isLost: true });
    await sessions.open(owner("run_3"), done, never);
    await Promise.all([first, second]);
    expect(ended).toEqual(["run_1", "run_2"]);
  });

  test("are not shared by an agent and its delegates, and each call has connections of its own", async () => {
    const { sessions, started, renewed } = fakeBrowsers();
    await sessions.open(owner("run_1"), done, never);
    const delegate = owner("run_1", "acme", ["a.test:443"], "helper");
    expect(await sessions.continue(delegate, done, never)).toMatchObject({
      reason: expect.stringMatching(/no open page/) as string,
    });
    await sessions.open(delegate, done, never);
    expect(started).toEqual(["run_1", "run_1"]);
    expect(renewed).toEqual(["run_1-call", "run_1-call"]);
  });

  test("end with an operation that was not finished, and with their toolhost", async () => {
    const { sessions, ended } = fakeBrowsers();
    await expect(sessions.open(owner("run_1"), broken, never)).rejects.toThrow("cancelled");
    await sessions.open(owner("run_2"), done, never);
    await sessions[Symbol.asyncDispose]();
    expect(ended).toEqual(["run_1", "run_2"]);
  });
});
