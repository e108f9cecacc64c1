import { once } from "node:events";
import type { NetworkUse } from "@reeve/sandbox/port";
import { describe, expect, test } from "vitest";
import type { BrowserProcess } from "./browser-process.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import type { GuardedPage, PageOutcome } from "./guarded-page.ts";

const never = new AbortController().signal;

/** Browsers without pages, which tell the runs for which they were started and ended. */
function fakeBrowsers(idleMs?: number) {
  const started: string[] = [];
  const ended: string[] = [];
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
      [Symbol.asyncDispose]: async () => {
        ended.push(runId);
        events.dispatchEvent(new Event("ended"));
      },
    });
  };
  const sessions = new BrowserSessions({ max: 4, start, ...(idleMs !== undefined && { idleMs }) });
  return { sessions, started, ended, crashes, events };
}

const owner = (runId: string, tenant = "acme", allow = ["a.test:443"]) => ({
  tenant,
  network: { allow, runId, callId: "c" },
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
    const idle = fakeBrowsers(1);
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

  test("end with an operation that was not finished, and with their toolhost", async () => {
    const { sessions, ended } = fakeBrowsers();
    await expect(sessions.open(owner("run_1"), broken, never)).rejects.toThrow("cancelled");
    await sessions.open(owner("run_2"), done, never);
    await sessions[Symbol.asyncDispose]();
    expect(ended).toEqual(["run_1", "run_2"]);
  });
});
