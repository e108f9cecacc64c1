import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunEvent } from "@reeve/contracts/run";
import type { Failure } from "@reeve/platform/failure";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, Scenario } from "./support/backend.ts";
import { patienceEnds } from "./support/backend.ts";
import { localBackend } from "./support/local-backend.ts";
import { natsBackend } from "./support/nats-backend.ts";
import { lineOf, normalized } from "./support/normalized.ts";
import { maxTextBytes, refusedStarts } from "./support/refused-starts.ts";
import { scenarios } from "./support/scenarios.ts";
import { temporalBackend } from "./support/temporal-backend.ts";
import { temporalPrograms } from "../support/temporal.ts";

const programs = await temporalPrograms();
const withTemporal = programs.kind === "ready" && { temporal: () => temporalBackend(programs) };
const backends = { local: localBackend, nats: () => natsBackend(), ...withTemporal };
const traces = join(import.meta.dirname, "traces");
const fileOf = ({ name }: Scenario) => `${name.replaceAll(" ", "-")}.json`;

afterAll(() => rmSync(dirname(patienceEnds), { recursive: true }));

describe.each(Object.entries(backends))("on the backend %s", (_, open) => {
  let backend: Backend;
  const runs = new Map<Scenario, Promise<readonly RunEvent[]>>();

  beforeAll(async () => {
    backend = await open();
  });

  afterAll(() => backend[Symbol.asyncDispose]());

  /** Returns the visible events of a run of the scenario. Each scenario is executed once. */
  function shownBy(scenario: Scenario): Promise<readonly RunEvent[]> {
    const run = runs.get(scenario) ?? backend.run(scenario);
    runs.set(scenario, run);
    return run;
  }

  // Requirement: EVT-3, DUR-1, DUR-2, DUR-7
  test.each(scenarios)("a run matches the recorded trace: $name", async (scenario) => {
    const trace = normalized(await shownBy(scenario));
    const file = join(traces, fileOf(scenario));
    await expect(`${JSON.stringify(trace, null, 2)}\n`).toMatchFileSnapshot(file);
  });

  // Requirement: CFG-11
  test.each(refusedStarts)("a run is refused for $name", async (start) => {
    const failure = failureFrom(await backend.refuse(start));
    expect({ reason: failure.reason, violations: violationsOf(failure) }).toEqual({
      reason: start.reason,
      violations: start.violations,
    });
  });

  test("a message that is too large is refused", async () => {
    const refused: Failure[] = [];
    const sending: NonNullable<Scenario["act"]> = async ({ event }, people) => {
      if (event.case !== "step" || refused.length > 0) return;
      const error: unknown = await people.send("x".repeat(maxTextBytes + 1)).catch((e) => e);
      refused.push(failureFrom(error));
    };
    await backend.run({ name: "large message", play: () => ({ text: "Hello." }), act: sending });
    expect(refused.map(violationsOf)).toEqual([["text STRING_MAX_BYTES"]]);
  });

  // Requirement: EVT-3, DUR-7
  test("a run costs what its calls used, also when it fails", async () => {
    for (const scenario of scenarios) {
      const events = (await shownBy(scenario)).map(({ event }) => event);
      const used = events.flatMap((event) => (event.case === "usage" ? [event.value] : []));
      const costs = events.flatMap((event) => (event.case === "costSummary" ? [event.value] : []));
      const sum = (tokens: "inputTokens" | "outputTokens") =>
        used.reduce((total, usage) => total + usage[tokens], 0);
      expect({ scenario: scenario.name, costs }).toMatchObject({
        scenario: scenario.name,
        costs: [{ inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") }],
      });
    }
  });

  test("the trace reveals every missing and every swapped event", async () => {
    for (const scenario of scenarios) {
      const events = await shownBy(scenario);
      expect({ scenario: scenario.name, unseen: unseenChanges(events) }).toEqual({
        scenario: scenario.name,
        unseen: [],
      });
    }
  });
});

const skipped = programs.kind === "missing" ? ` (skipped: ${programs.reason})` : "";
test.skipIf(skipped !== "")(`the backends include temporal${skipped}`, () => {
  expect(Object.keys(backends)).toEqual(["local", "nats", "temporal"]);
});

test("every recorded trace belongs to a scenario", () => {
  expect(readdirSync(traces).toSorted()).toEqual(scenarios.map(fileOf).toSorted());
});

/** Returns the path, relative to the spec or the request, and the reason of each violation. */
function violationsOf({ violations }: Failure): readonly string[] {
  return violations.map(({ field, reason }) => `${field.replace(/^spec\./, "")} ${reason}`);
}

/** Returns the changes that a run's trace does not reveal: a dropped event, or two swapped neighbors. */
function unseenChanges(events: readonly RunEvent[]): readonly string[] {
  const whole = JSON.stringify(normalized(events));
  const isSeen = (changed: readonly RunEvent[]) => JSON.stringify(normalized(changed)) !== whole;
  return events.flatMap((event, index) => {
    const unseen: string[] = [];
    if (!isSeen(events.toSpliced(index, 1))) unseen.push(`${lineOf(event)} is dropped`);
    const next = events[index + 1];
    if (next === undefined || isUnordered(event, next)) return unseen;
    const swapped = events.with(index, next).with(index + 1, event);
    if (!isSeen(swapped)) unseen.push(`${lineOf(event)} is swapped with ${lineOf(next)}`);
    return unseen;
  });
}

/** Parallel loops have no order, parallel subtasks end in any order, and of two equal lines either may be first. */
function isUnordered(one: RunEvent, other: RunEvent): boolean {
  const areEnds = [one, other].every(({ event }) => event.case === "subtask" && event.value.ended);
  return one.parentId !== other.parentId || areEnds || lineOf(one) === lineOf(other);
}
