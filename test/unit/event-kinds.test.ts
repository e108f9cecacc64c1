import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const kinds = (RunEventSchema.oneofs[0]?.fields ?? []).map(({ localName }) => localName);

/** Every file that decides about each kind of event of a run. A new kind does not compile until all of them name it. */
const deciders = [
  "cli/src/demo/run-times.ts",
  "cli/src/render/awaited.ts",
  "cli/src/render/trace.ts",
  "packages/engine/src/domain/state/apply-to-frame.ts",
  "packages/engine/src/domain/state/apply-to-frames.ts",
  "packages/engine/src/domain/state/apply.ts",
  "packages/engine/src/domain/state/worked-time.ts",
  "packages/run/src/head/ledger.ts",
  "packages/run/src/head/ownership.ts",
  "packages/run/src/head/run-answer.ts",
  "packages/run/src/head/run-head.ts",
  "packages/run/src/head/run-summary.ts",
  "packages/run/src/receipts/call-history.ts",
  "packages/run/src/thread/history/turn-history.ts",
  "packages/run/src/tree/execution-tree.ts",
  "services/approvals/src/app/approval-kinds.ts",
  "services/gateway/src/a2a/task/task-view.ts",
  "services/gateway/src/app/memories-of-others.ts",
  "services/gateway/src/projections/run-row.ts",
];

/** Those that decide by a table instead of a switch. */
const tables: ReadonlySet<string> = new Set([
  "services/approvals/src/app/approval-kinds.ts",
  "services/gateway/src/app/memories-of-others.ts",
  "services/gateway/src/projections/run-row.ts",
]);

test.each(deciders)("%s names every kind of event", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  expect(kinds.filter((kind) => !new RegExp(`\\b${kind}\\b`, "u").test(text))).toEqual([]);
});

test("only these files interpret several kinds of events of a run", () => {
  const members = ["packages", "services"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const sources = ["cli", ...members].flatMap((member) => sourcesIn(`${member}/src`));
  const switching = sources.filter((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return kinds.filter((kind) => text.includes(`case "${kind}":`)).length > 2;
  });
  const switches = deciders.filter((file) => !tables.has(file));
  expect(switching.toSorted()).toEqual(switches);
});

/** The TypeScript files in a folder that are not tests. */
function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => `${folder}/${file}`);
}
