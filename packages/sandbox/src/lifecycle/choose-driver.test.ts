import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import type { ProbeReport, SandboxDriver } from "../port.ts";
import { chooseDriver } from "./choose-driver.ts";

const signal = new AbortController().signal;
const bounds = { memory: true, processes: true };
const works: ProbeReport = { works: true, isolates: true, bounds };
const broken: ProbeReport = { works: false, reason: "it is broken", fixes: ["fix it"] };

function never(): Promise<never> {
  return Promise.reject(new Error("unexpected call"));
}

function driver(name: string, report: ProbeReport): SandboxDriver {
  return { name, probe: () => Promise.resolve(report), open: never, list: never, destroy: never };
}

const refused: ProbeReport = { ...broken, isTransient: true };

/** Works from the third probe on. */
function lateDriver(name: string): SandboxDriver {
  let probes = 0;
  const probe = () => Promise.resolve(++probes < 3 ? refused : works);
  return { ...driver(name, works), probe };
}

const files = driver("files-only", { ...works, isolates: false });
const unsafe = driver("unsafe-local", { ...works, isolates: false });

function recordingLog() {
  const lines: string[] = [];
  const write = (...given: unknown[]) => void lines.push(JSON.stringify(given));
  return { lines, log: { info: write, warn: write } };
}

test("takes the first driver that works", async () => {
  const { log, lines } = recordingLog();
  const drivers = [driver("docker", broken), driver("bubblewrap", works), unsafe];
  const choice = await chooseDriver("auto", drivers, { log }, signal);
  expect(choice.driver?.name).toBe("bubblewrap");
  expect(lines).toEqual([]);
});

test("takes the named driver, and no other if it does not work", async () => {
  const { log } = recordingLog();
  const drivers = [driver("docker", works), driver("bubblewrap", broken)];
  expect((await chooseDriver("docker", drivers, { log }, signal)).driver?.name).toBe("docker");
  expect((await chooseDriver("bubblewrap", drivers, { log }, signal)).driver).toBeUndefined();
});

test("waits for the named driver while it is refused for a reason that may pass", async () => {
  const { log, lines } = recordingLog();
  const clock = new HastyClock();
  const drivers = [lateDriver("kubernetes"), files];
  const choice = await chooseDriver("kubernetes", drivers, { log, clock }, signal);
  expect(choice).toMatchObject({ driver: { name: "kubernetes" } });
  expect(clock.delaysMs).toEqual([1_000, 2_000]);
  expect(lines.join()).toContain("does not work yet");
});

test("waits for no driver that nobody named", async () => {
  const { log } = recordingLog();
  const drivers = [lateDriver("kubernetes"), driver("bubblewrap", works)];
  expect((await chooseDriver("auto", drivers, { log }, signal)).driver?.name).toBe("bubblewrap");
});

// Requirement: KIT-9
test("refuses to run without isolation, and reports what was tried and how to fix it", async () => {
  const { log, lines } = recordingLog();
  const drivers = [driver("docker", broken), driver("bubblewrap", broken), unsafe];
  const choice = await chooseDriver("auto", drivers, { log }, signal);
  expect(choice).toMatchObject({ driver: undefined });
  if (choice.driver !== undefined) return;
  expect(choice.refusal.split("\n").slice(1)).toEqual([
    "docker: it is broken",
    "  fix it",
    "bubblewrap: it is broken",
    "  fix it",
  ]);
  expect(lines.join()).toContain("docker: it is broken");
});

test.each(["auto", "docker"] as const)(
  "falls back to file tools if nothing isolates with the setting %s, and reports why code does not run",
  async (setting) => {
    const { log, lines } = recordingLog();
    const choice = await chooseDriver(
      setting,
      [driver("docker", broken), unsafe, files],
      { log },
      signal,
    );
    expect(choice.driver?.name).toBe("files-only");
    expect(choice.refusal?.split("\n").slice(1)).toEqual(["docker: it is broken", "  fix it"]);
    expect(choice.refusal).toContain("runs no code and no commands");
    expect(lines.join()).toContain("docker: it is broken");
    expect(lines.join()).not.toContain("WITHOUT ISOLATION");
  },
);

test("takes files-only only by name if a driver that isolates works", async () => {
  const { log } = recordingLog();
  const drivers = [driver("docker", broken), driver("bubblewrap", works), unsafe, files];
  expect((await chooseDriver("auto", drivers, { log }, signal)).driver?.name).toBe("bubblewrap");
  const choice = await chooseDriver("files-only", drivers, { log }, signal);
  expect(choice.driver?.name).toBe("files-only");
  expect(choice.refusal).toContain("REEVE_SANDBOX=files-only");
});

test("reports that all tools are off if not even file tools work", async () => {
  const { log, lines } = recordingLog();
  const drivers = [driver("bubblewrap", broken), driver("files-only", broken)];
  const choice = await chooseDriver("auto", drivers, { log }, signal);
  expect(choice.driver).toBeUndefined();
  expect(choice.refusal).toContain("files-only: it is broken");
  expect(lines.join()).toContain("all built-in tools are off");
});

// Requirement: KIT-9
test("runs without isolation only by name, and warns at each start", async () => {
  const { log, lines } = recordingLog();
  for (const start of [1, 2]) {
    const choice = await chooseDriver(
      "unsafe-local",
      [driver("docker", works), unsafe],
      { log },
      signal,
    );
    expect(choice.driver?.name).toBe("unsafe-local");
    expect(lines.filter((line) => line.includes("WITHOUT ISOLATION"))).toHaveLength(start);
  }
});

test("probes nothing if sandboxes are off", async () => {
  const { log } = recordingLog();
  expect(
    (await chooseDriver("none", [driver("docker", works)], { log }, signal)).driver,
  ).toBeUndefined();
});
