import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { applyAll } from "./state/apply.ts";
import { hasEnded, initialState } from "./state/run-state.ts";
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

test("every history that was ever recorded is still there, as it was", () => {
  const digests = files.map((file): [string, string] => {
    const text = readFileSync(join(folder, file), "utf8");
    return [file, createHash("sha256").update(text).digest("hex").slice(0, 16)];
  });
  expect(new Map(digests)).toEqual(described);
});

describe.each(files)("the history %s", (file) => {
  const events = eventsIn(file);

  test("is folded to its end, in order", () => {
    expect(hasEnded(applyAll(initialState, events))).toBe(true);
    expectOrder(events);
  });

  test("is gone on with from any event in it", () => {
    for (let survived = 1; survived <= events.length; survived++) {
      expectOrder(takeOver(events, survived).events);
    }
  });
});

test.each(Object.entries(histories))("the scenario %s ends in order today", (_, play) => {
  expectOrder(play().events);
});
