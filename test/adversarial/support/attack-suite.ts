import type { Bounds, SandboxDriver } from "@reeve/sandbox/port";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAttacks } from "../attacks/all-attacks.ts";
import type { AttackBench, Verdict } from "./attack.ts";
import { attackBench } from "./attack-bench.ts";
import { startAttackedToolhost } from "./attacked-toolhost.ts";
import type { DriverName } from "./driver-name.ts";
import { hostTraps } from "./host-traps.ts";
import { attackedIdentity, unprotectedIdentity } from "./identities.ts";
import { printTable, statedVerdicts, writeTable } from "./verdict-table.ts";

const signal = new AbortController().signal;

/** A driver that works here, or why none does. */
export type Attacked =
  | { readonly driver: SandboxDriver; readonly bounds: Bounds }
  | { readonly why: string };

/** Tries every attack against a driver. Skips them with the reason if the driver does not work here. */
export function attackSuite(name: DriverName, attacked: Attacked): void {
  const why = "why" in attacked ? attacked.why : "";
  describe.skipIf(why !== "")(`against ${name}${why && ` (skipped: ${why})`}`, () => {
    const resources = new AsyncDisposableStack();
    const verdicts = new Map<string, Verdict>();
    let bench: AttackBench;

    beforeAll(async () => {
      if ("why" in attacked) return;
      const { driver } = attacked;
      const traps = await hostTraps(unprotectedIdentity, resources);
      bench = await attackBench({
        name,
        driver,
        identity: attackedIdentity,
        traps,
        attacks: allAttacks,
        signal,
        toolhost: () =>
          startAttackedToolhost({ sandbox: name, canary: traps.canary }, resources, signal),
      });
      resources.use(bench);
    });

    afterAll(async () => {
      await resources.disposeAsync();
      const found = new Map([[name, verdicts]]);
      printTable(found);
      writeTable(found);
    });

    // Requirement: KIT-7, KIT-8
    test.for(allAttacks)("$id: $attempt", async (attack, { skip }) => {
      const { needs } = attack;
      skip(
        needs !== undefined && !("why" in attacked) && !attacked.bounds[needs],
        `this machine cannot limit ${needs} of all processes together`,
      );
      const verdict = await attack.run(bench);
      verdicts.set(attack.id, verdict);
      const permitted =
        attack.admitted?.[name] === undefined ? ["stopped", "bounded"] : ["not stopped"];
      expect(permitted.includes(verdict.kind) || verdict).toBe(true);
    });

    test("the outcomes are those in docs/security.md", () => {
      const kinds = Object.fromEntries([...verdicts].map(([id, { kind }]) => [id, kind]));
      expect(statedVerdicts(name)).toMatchObject(kinds);
    });
  });
}
