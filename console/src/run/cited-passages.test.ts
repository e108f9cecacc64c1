import { create } from "@bufbuild/protobuf";
import { PassageSchema } from "@reeve/contracts/extensions/knowledge";
import { RunEventSchema, RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { citedPassages, placeOf } from "./cited-passages.ts";
import { emptyRun } from "./run-model.ts";

const passage = (documentName: string, page: number, firstLine: number, lastLine: number) =>
  create(PassageSchema, { collectionId: "handbook", documentName, page, firstLine, lastLine });

test("the sources of an answer are the passages that it cites, once each, in its order", () => {
  const run = emptyRun("run_1");
  const leave = passage("leave.md", 0, 3, 3);
  const travel = passage("travel.pdf", 2, 1, 3);
  run.prepared = create(RunPreparedSchema, { passages: [leave, passage("other.md", 0, 1, 2)] });
  const result = { citations: [travel] };
  run.events.push(create(RunEventSchema, { event: { case: "toolResult", value: { result } } }));
  const text =
    "Yes [handbook/travel.pdf, page 2, lines 1-3], as [handbook/leave.md, line 3] and [handbook/travel.pdf, page 2, lines 1-3] say. [handbook/none.md, line 9]";
  run.root.items.push({ kind: "text", key: "1", version: 1, step: 1, parts: [], text });
  expect(citedPassages(run).map(placeOf)).toEqual([
    "travel.pdf, page 2, lines 1–3",
    "leave.md, line 3",
  ]);
});
