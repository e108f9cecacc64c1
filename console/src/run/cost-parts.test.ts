import { create } from "@bufbuild/protobuf";
import { Phase, RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { costParts } from "./cost-parts.ts";
import { foldRun } from "./fold-run.ts";
import { emptyRun } from "./run-model.ts";

const usage = (costUsd: number, parentId = "", phase: Phase = Phase.UNSPECIFIED) => ({
  parentId,
  phase,
  event: { case: "usage", value: { costUsd } } as const,
});
const subtask = (id: string, parentId = "") => ({
  parentId,
  event: { case: "subtask", value: { subtaskId: id, callId: id, title: id } } as const,
});

test("counts planning as the agent's own, and names the subtask whose own calls cost most", () => {
  const run = emptyRun("run_1");
  const events = [
    usage(1, "", Phase.PLANNER),
    usage(2),
    subtask("outer"),
    usage(3, "outer"),
    { parentId: "outer", event: { case: "toolCall", value: { callId: "inner" } } as const },
    subtask("inner", "outer"),
    usage(10, "inner"),
  ];
  for (const event of events) foldRun(run, create(RunEventSchema, event));
  expect(costParts(run)).toEqual({
    ownUsd: 3,
    subtasksUsd: 13,
    most: { title: "inner", ownUsd: 10 },
  });
});
