import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend } from "./support/backend.ts";
import { localBackend } from "./support/local-backend.ts";
import { natsBackend } from "./support/nats-backend.ts";
import { normalized } from "./support/normalized.ts";
import { scenarios } from "./support/scenarios.ts";

const backends = { local: localBackend, nats: natsBackend } as const;

describe.each(Object.entries(backends))("on the backend %s", (_, open) => {
  let backend: Backend;

  beforeAll(async () => {
    backend = await open();
  });

  afterAll(() => backend[Symbol.asyncDispose]());

  test.each(scenarios)("a run shows what every backend shows: $name", async (scenario) => {
    const trace = normalized(await backend.run(scenario));
    const file = join(import.meta.dirname, "traces", `${scenario.name.replaceAll(" ", "-")}.json`);
    await expect(`${JSON.stringify(trace, null, 2)}\n`).toMatchFileSnapshot(file);
  });
});

describe("the comparison", () => {
  test("misses no event that is dropped, and none that is in another place", async () => {
    await using backend = await localBackend();
    for (const scenario of scenarios) {
      const events = await backend.run(scenario);
      const whole = JSON.stringify(normalized(events));
      for (const [index, event] of events.entries()) {
        const without = events.filter((other) => other !== event);
        expect(JSON.stringify(normalized(without)), `${scenario.name} ${index}`).not.toBe(whole);
        const next = events[index + 1];
        // Parts of one text are one text, and loops side by side have no order.
        if (next === undefined || next.parentId !== event.parentId) continue;
        const swapped = events.with(index, next).with(index + 1, event);
        const isSame = next.event.case === event.event.case;
        expect(isSame || JSON.stringify(normalized(swapped)) !== whole).toBe(true);
      }
    }
  });
});
