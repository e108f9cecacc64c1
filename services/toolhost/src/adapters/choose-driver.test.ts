import { expect, test } from "vitest";
import type { ProbeReport, SandboxDriver } from "../ports/sandbox.ts";
import { chooseDriver } from "./choose-driver.ts";

const signal = new AbortController().signal;
const bounds = { memory: true, processes: true };
const works: ProbeReport = { works: true, isolates: true, bounds };
const broken: ProbeReport = { works: false, reason: "it is broken", fixes: ["mend it"] };

function never(): Promise<never> {
  return Promise.reject(new Error("nothing is opened here"));
}

function driver(name: string, report: ProbeReport): SandboxDriver {
  return { name, probe: () => Promise.resolve(report), open: never, list: never, destroy: never };
}

const unsafe = driver("unsafe-local", { ...works, isolates: false });

/** A log that keeps what it is told. */
function keeping() {
  const told: string[] = [];
  const tell = (...given: unknown[]) => void told.push(JSON.stringify(given));
  return { told, log: { info: tell, warn: tell } };
}

test("takes the first driver that works", async () => {
  const { log, told } = keeping();
  const drivers = [driver("docker", broken), driver("bubblewrap", works), unsafe];
  const choice = await chooseDriver("auto", drivers, log, signal);
  expect(choice.driver?.name).toBe("bubblewrap");
  expect(told).toEqual([]);
});

test("takes the one that is asked for, and no other when it does not work", async () => {
  const { log } = keeping();
  const drivers = [driver("docker", works), driver("bubblewrap", broken)];
  expect((await chooseDriver("docker", drivers, log, signal)).driver?.name).toBe("docker");
  expect((await chooseDriver("bubblewrap", drivers, log, signal)).driver).toBeUndefined();
});

test("refuses rather than go without isolation, and says what was tried and what would help", async () => {
  const { log, told } = keeping();
  const drivers = [driver("docker", broken), driver("bubblewrap", broken), unsafe];
  const choice = await chooseDriver("auto", drivers, log, signal);
  expect(choice).toMatchObject({ driver: undefined });
  if (choice.driver !== undefined) return;
  expect(choice.refusal.split("\n").slice(1)).toEqual([
    "docker: it is broken",
    "  mend it",
    "bubblewrap: it is broken",
    "  mend it",
  ]);
  expect(told.join()).toContain("docker: it is broken");
});

test("goes without isolation only when told, and warns at every start", async () => {
  const { log, told } = keeping();
  for (const start of [1, 2]) {
    const choice = await chooseDriver(
      "unsafe-local",
      [driver("docker", works), unsafe],
      log,
      signal,
    );
    expect(choice.driver?.name).toBe("unsafe-local");
    expect(told.filter((line) => line.includes("WITHOUT ISOLATION"))).toHaveLength(start);
  }
});

test("tries nothing when there is to be none", async () => {
  const { log } = keeping();
  expect(
    (await chooseDriver("none", [driver("docker", works)], log, signal)).driver,
  ).toBeUndefined();
});
