import { tmpdir } from "node:os";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { DockerDriver } from "@reeve/sandbox/docker/driver";
import type { ProbeReport, SandboxDriver } from "@reeve/sandbox/port";
import { allAttacks } from "./attacks/all-attacks.ts";
import type { DriverName } from "./support/driver-name.ts";
import type { Verdict } from "./support/attack.ts";
import type { AttackBench } from "./support/attack.ts";
import { attackBench } from "./support/attack-bench.ts";
import { startAttackedToolhost } from "./support/attacked-toolhost.ts";
import type { HostTraps } from "./support/host-traps.ts";
import { hostTraps, workspaces } from "./support/host-traps.ts";
import { printTable, statedVerdicts, writeTable } from "./support/verdict-table.ts";
import { withoutBoundary } from "./support/without-boundary.ts";

const identity = sandboxIdentity(64_017);
/** User of the attacks without a boundary. It differs from that of sandboxes, so they cannot harm any. */
const unprotected = sandboxIdentity(64_099);
const address = process.env["DOCKER_HOST"];
const image = process.env["REEVE_SANDBOX_IMAGE"] ?? "reeve-sandbox:latest";
const signal = new AbortController().signal;
const resources = new AsyncDisposableStack();
/** Why a driver is not attacked, by its name. Empty if it is attacked. */
const skipReasons = new Map<DriverName, string>();
const found = new Map<DriverName, Map<string, Verdict>>();
let traps: HostTraps;

beforeAll(async () => {
  traps = await hostTraps(unprotected, resources);
});

afterAll(async () => {
  await resources.disposeAsync();
  printTable(found);
  await writeTable(found);
});

const drivers: readonly SandboxDriver[] = [
  new BubblewrapDriver(identity),
  new DockerDriver({ identity, address, image, probeDir: tmpdir }),
];

describe.each(["outside", "namespace"] as const)("without a boundary, %s", (where) => {
  const attacks = allAttacks.filter(({ control }) => control.where === where);
  let outcomes: Awaited<ReturnType<typeof withoutBoundary>>;

  beforeAll(async () => {
    const own = await workspaces(unprotected, resources);
    outcomes = await withoutBoundary(where, attacks, { ...traps, ...own, first: 0 }, unprotected);
  });

  test.for(attacks)("$id does harm", ({ id, control }, { skip }) => {
    const { except = [], differs } = control;
    const found = Object.entries(outcomes[id] ?? { all: "broken: not tried" });
    const harmless = found.filter(([way, outcome]) => outcome !== "harm" && !except.includes(way));
    const broken = found.filter(([, outcome]) => outcome.startsWith("broken"));
    expect(Object.fromEntries(broken)).toEqual({});
    skip(differs !== undefined && harmless.length > 0, `this machine refuses it: ${differs}`);
    expect(Object.fromEntries(harmless)).toEqual({});
  });
});

for (const driver of drivers) {
  const name = driver.name as DriverName;
  const report = await probeDriver(driver);
  const why = report.works ? "" : report.reason;
  const bounds = report.works ? report.bounds : undefined;
  skipReasons.set(name, why);
  describe.skipIf(why !== "")(`against ${name}${why && ` (skipped: ${why})`}`, () => {
    let bench: AttackBench;

    beforeAll(async () => {
      bench = await attackBench({
        name,
        driver,
        identity,
        traps,
        attacks: allAttacks,
        signal,
        toolhost: () =>
          startAttackedToolhost({ sandbox: name, canary: traps.canary }, resources, signal),
      });
      resources.use(bench);
      found.set(name, new Map());
    });

    // Requirement: KIT-7, KIT-8
    test.for(allAttacks)("$id: $attempt", async (attack, { skip }) => {
      const { needs } = attack;
      skip(
        needs !== undefined && bounds?.[needs] !== true,
        `this machine cannot limit ${needs} of all processes together`,
      );
      const verdict = await attack.run(bench);
      found.get(name)?.set(attack.id, verdict);
      const permitted =
        attack.admitted?.[name] === undefined ? ["stopped", "bounded"] : ["not stopped"];
      expect(permitted.includes(verdict.kind) || verdict).toBe(true);
    });

    test("the outcomes are those in docs/security.md", () => {
      const verdicts = Object.fromEntries(
        [...(found.get(name) ?? [])].map(([id, { kind }]) => [id, kind]),
      );
      expect(statedVerdicts(name)).toMatchObject(verdicts);
    });
  });
}

test("a required container engine works", () => {
  const isRequired = process.env["REEVE_ENGINE"] === "required";
  expect(isRequired ? skipReasons.get("docker") : "").toBe("");
});

/** Probes a driver. Uses no container engine unless DOCKER_HOST is set. */
async function probeDriver(driver: SandboxDriver): Promise<ProbeReport> {
  return driver.name === "docker" && address === undefined
    ? { works: false, reason: "DOCKER_HOST is not set", fixes: [] }
    : await driver.probe(AbortSignal.timeout(60_000));
}
