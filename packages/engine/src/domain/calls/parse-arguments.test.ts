import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { RunBatchSchema, RunEventSchema } from "@reeve/contracts/run";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { parseArguments } from "./parse-arguments.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";

const nested = (levels: number) => `${`{"a":`.repeat(levels)}1${"}".repeat(levels)}`;

test.each([
  ["nothing at all", " ", {}],
  ["an object", `{"a":[1,"b",null,{"c":true}]}`, { a: [1, "b", null, { c: true }] }],
  ["a name that objects have", `{"__proto__":1}`, JSON.parse(`{"__proto__":1}`)],
  ["many levels", nested(24), JSON.parse(nested(24))],
])("arguments are read from %s", (_, text, args) => {
  expect(parseArguments(text)).toEqual(args);
});

const unusable: readonly (readonly [string, string])[] = [
  ["no JSON", "{broken"],
  ["a list", "[]"],
  ["null", "null"],
  ["a number beyond all bounds", `{"n":1e999}`],
  ["half a character", `{"s":"\\ud800"}`],
  ["half a character in a name", `{"\\udc00":1}`],
  ["too many levels", nested(25)],
  ["levels without end", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
];

describe.each(unusable)("a call whose arguments are %s", (_, args) => {
  test("has none, reads why, and leaves a readable log", () => {
    expect(parseArguments(args)).toBeUndefined();
    const run = new PlayedRun().turn({ name: "search", args });
    expect(run.all("toolCall")).toMatchObject([{ rawArguments: args }]);
    expect(run.resultsSeen()).toEqual([
      expect.stringContaining("call again with a simple JSON object"),
    ]);
    const batch = create(RunBatchSchema, { events: run.events });
    const stored = fromBinary(RunBatchSchema, toBinary(RunBatchSchema, batch));
    for (const event of stored.events) expect(() => toJson(RunEventSchema, event)).not.toThrow();
  });
});

test("arguments at the nesting limit survive the log, also in an approval", () => {
  const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search", args: nested(24) });
  expect(run.all("approval")).toHaveLength(1);
  const batch = create(RunBatchSchema, { events: run.events });
  expect(fromBinary(RunBatchSchema, toBinary(RunBatchSchema, batch)).events).toEqual(run.events);
});
