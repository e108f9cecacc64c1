import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ClientCallState, RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { stateOfCall } from "./call-state.ts";
import { foldRun } from "./fold-run.ts";
import type { RunModel } from "./run-model.ts";
import { emptyRun } from "./run-model.ts";

type Event = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

function fold(...events: readonly Event[]): RunModel {
  const run = emptyRun("run_1");
  for (const [index, event] of events.entries()) {
    foldRun(run, create(RunEventSchema, { runId: "run_1", sequence: index + 1, event }));
  }
  return run;
}

const called: readonly Event[] = [
  { case: "toolCall", value: { callId: "c1", name: "show" } },
  { case: "toolCallStarted", value: { callId: "c1" } },
  { case: "clientCall", value: { callId: "c1", name: "show", state: ClientCallState.OPEN } },
];
const taken: Event = {
  case: "clientCall",
  value: { callId: "c1", clientId: "page", state: ClientCallState.TAKEN },
};
const result: Event = { case: "toolResult", value: { success: true, result: { callId: "c1" } } };

function stateIn(run: RunModel): string {
  const call = run.calls.get("c1");
  return call === undefined ? "" : stateOfCall(call, run).name;
}

test("a call says that it waits for a client, which client has it, and that it is done", () => {
  expect(stateIn(fold(...called))).toBe("waiting for a client");
  expect(stateIn(fold(...called, taken))).toBe("with the client page");
  const done = fold(...called, taken, result);
  expect(stateIn(done)).toBe("done");
  expect(done.clientWaits.size).toBe(0);
});

test("the timeline has the wait for a client instead of work of a toolhost", () => {
  const kinds = fold(...called).spans.map(({ kind }) => kind);
  expect(kinds).toEqual(["client"]);
});
