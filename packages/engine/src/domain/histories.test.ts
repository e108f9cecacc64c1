import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { Ledger } from "@reeve/run/head/ledger";
import { charge, costAfter, emptyLedger } from "@reeve/run/head/ledger";
import { describe, expect, test } from "vitest";
import { applyAll } from "./state/apply.ts";
import { hasEnded, initialState } from "./state/run-state.ts";
import type { HistoryViews } from "../../test/support/history-views.ts";
import { viewsOf } from "../../test/support/history-views.ts";
import { histories } from "../../test/support/recorded-runs.ts";
import { expectOrder } from "../../test/support/event-order.ts";
import { takeOver } from "../../test/support/random-world.ts";

const folder = join(import.meta.dirname, "../../../../test/histories");
const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
const described = new Map(
  [
    ...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^\| `(.+)` \| `(.+)` \| .+ \|$/gm),
  ].map(([, file = "", digest = ""]): [string, string] => [file, digest]),
);

function eventsIn(file: string): readonly RunEvent[] {
  const events = JSON.parse(readFileSync(join(folder, file), "utf8")) as readonly JsonValue[];
  return events.map((event) => fromJson(RunEventSchema, event));
}

test("every recorded history is still there, unchanged", () => {
  const digests = files.map((file): [string, string] => {
    const text = readFileSync(join(folder, file), "utf8");
    return [file, createHash("sha256").update(text).digest("hex").slice(0, 16)];
  });
  expect(new Map(digests)).toEqual(described);
});

describe.each(files)("the history %s", (file) => {
  const events = eventsIn(file);

  test("costs as much in lists as in its ledger after each event", () => {
    let [spent, cost]: [Ledger, number | undefined] = [emptyLedger, 0];
    for (const event of events) {
      [spent, cost] = [charge(spent, event), costAfter(cost, event)];
      expect(cost).toBe(spent.costUsd);
    }
  });

  test("folds to its end, in order", () => {
    expect(hasEnded(applyAll(initialState, events))).toBe(true);
    expectOrder(events);
  });

  test("folds to the views that were recorded for it", () => {
    const recorded = JSON.parse(readFileSync(join(folder, "views", file), "utf8")) as HistoryViews;
    const { end, digests } = viewsOf(events);
    expect(end).toEqual(recorded.end);
    expect(digests).toEqual(recorded.digests);
  });

  test("continues from any of its events", () => {
    for (let survived = 1; survived <= events.length; survived++) {
      expectOrder(takeOver(events, survived).events);
    }
  });
});

test.each(Object.entries(histories))("the scenario %s ends in order today", (_, play) => {
  expectOrder(play().events);
});
