import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, Scenario } from "./support/backend.ts";
import { localBackend } from "./support/local-backend.ts";
import { natsBackend } from "./support/nats-backend.ts";
import { lineOf, normalized } from "./support/normalized.ts";
import { scenarios } from "./support/scenarios.ts";

const backends = { local: localBackend, nats: natsBackend } as const;
const traces = join(import.meta.dirname, "traces");
const fileOf = ({ name }: Scenario) => `${name.replaceAll(" ", "-")}.json`;

describe.each(Object.entries(backends))("on the backend %s", (_, open) => {
  let backend: Backend;
  const runs = new Map<Scenario, Promise<readonly RunEvent[]>>();

  beforeAll(async () => {
    backend = await open();
  });

  afterAll(() => backend[Symbol.asyncDispose]());

  /** What a run of the scenario shows; each is carried out once. */
  function shownBy(scenario: Scenario): Promise<readonly RunEvent[]> {
    const run = runs.get(scenario) ?? backend.run(scenario);
    runs.set(scenario, run);
    return run;
  }

  // Requirement: EVT-3, DUR-1, DUR-2, DUR-7
  test.each(scenarios)("a run shows what every backend shows: $name", async (scenario) => {
    const trace = normalized(await shownBy(scenario));
    const file = join(traces, fileOf(scenario));
    await expect(`${JSON.stringify(trace, null, 2)}\n`).toMatchFileSnapshot(file);
  });

  test("no event could be missing, and none elsewhere, without being seen", async () => {
    for (const scenario of scenarios) {
      const events = await shownBy(scenario);
      expect({ scenario: scenario.name, unseen: unseenChanges(events) }).toEqual({
        scenario: scenario.name,
        unseen: [],
      });
    }
  });
});

test("every recorded trace is one of a scenario", () => {
  expect(readdirSync(traces).toSorted()).toEqual(scenarios.map(fileOf).toSorted());
});

/** The changes of a run that its trace would not show: an event that is dropped, or two neighbours that are swapped. */
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

/** Loops side by side have no order, and subtasks side by side end in any; and of two that are alike, either is first. */
function isUnordered(one: RunEvent, other: RunEvent): boolean {
  const areEnds = [one, other].every(({ event }) => event.case === "subtask" && event.value.ended);
  return one.parentId !== other.parentId || areEnds || lineOf(one) === lineOf(other);
}
