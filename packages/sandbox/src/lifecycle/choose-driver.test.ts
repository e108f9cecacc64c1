import { expect, test } from "vitest";
import type { ProbeReport, SandboxDriver } from "../port.ts";
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

// Requirement: KIT-9
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

const files = driver("files-only", { ...works, isolates: false });

test.each(["auto", "docker"] as const)(
  "lets tools over files work where nothing isolates, told %s, and says why code does not run",
  async (wanted) => {
    const { log, told } = keeping();
    const choice = await chooseDriver(
      wanted,
      [driver("docker", broken), unsafe, files],
      log,
      signal,
    );
    expect(choice.driver?.name).toBe("files-only");
    expect(choice.refusal?.split("\n").slice(1)).toEqual(["docker: it is broken", "  mend it"]);
    expect(choice.refusal).toContain("no code and no command is run here");
    expect(told.join()).toContain("docker: it is broken");
    expect(told.join()).not.toContain("WITHOUT ISOLATION");
  },
);

test("never leaves it at tools over files where something isolates, unless it is told to", async () => {
  const { log } = keeping();
  const drivers = [driver("docker", broken), driver("bubblewrap", works), unsafe, files];
  expect((await chooseDriver("auto", drivers, log, signal)).driver?.name).toBe("bubblewrap");
  const choice = await chooseDriver("files-only", drivers, log, signal);
  expect(choice.driver?.name).toBe("files-only");
  expect(choice.refusal).toContain("REEVE_SANDBOX=files-only");
});

test("says that everything is off where not even tools over files work", async () => {
  const { log, told } = keeping();
  const drivers = [driver("bubblewrap", broken), driver("files-only", broken)];
  const choice = await chooseDriver("auto", drivers, log, signal);
  expect(choice.driver).toBeUndefined();
  expect(choice.refusal).toContain("files-only: it is broken");
  expect(told.join()).toContain("all built-in tools are off");
});

// Requirement: KIT-9
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
