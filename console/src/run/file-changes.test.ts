import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { changesOf } from "./file-changes.ts";
import { foldRun } from "./fold-run.ts";
import { emptyRun } from "./run-model.ts";

/** A run with calls, of which those whose id begins with `bad` failed. */
function runWith(...calls: readonly [callId: string, name: string, args: JsonObject][]) {
  const run = emptyRun("run_1");
  let sequence = 0;
  const fold = (event: Parameters<typeof create<typeof RunEventSchema>>[1]) =>
    foldRun(run, create(RunEventSchema, { ...event, sequence: ++sequence }));
  for (const [callId, name, args] of calls) {
    fold({ event: { case: "toolCall", value: { callId, name, arguments: args } } });
    const success = !callId.startsWith("bad");
    fold({ event: { case: "toolResult", value: { result: { callId }, success } } });
  }
  return run;
}

test("each change has the text before it, as far as it is known", () => {
  const run = runWith(
    ["edit1", "edit_file", { path: "a.txt", old_text: "x", new_text: "y" }],
    ["write1", "write_file", { path: "./a.txt", content: "one $1" }],
    ["edit2", "edit_file", { path: "a.txt", old_text: "one", new_text: "$&" }],
    ["write2", "write_file", { path: "a.txt", content: "two" }],
  );
  const changes = changesOf(run, "a.txt").map(({ call, ...texts }) => [call.key, texts]);
  expect(changes).toEqual([
    ["edit1", { before: "x", after: "y" }],
    ["write1", { before: undefined, after: "one $1" }],
    ["edit2", { before: "one", after: "$&" }],
    ["write2", { before: "$& $1", after: "two" }],
  ]);
});

test("calls that failed, that have other arguments, and those of other files and tools change nothing", () => {
  const run = runWith(
    ["bad", "write_file", { path: "a.txt", content: "no" }],
    ["odd", "write_file", { path: "a.txt", content: 7 }],
    ["other", "write_file", { path: "b.txt", content: "no" }],
    ["read", "read_file", { path: "a.txt" }],
  );
  expect(changesOf(run, "a.txt")).toEqual([]);
});
