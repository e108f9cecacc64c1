import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { ClientCallState, RunEventSchema, RunStatus, RunWaitKind } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { emptyHead, foldHead } from "./run-head.ts";
import { runOf } from "./run-of.ts";

type Event = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

const created: Event = { case: "runCreated", value: { tenant: "acme", agentId: "a" } };
const deadline = timestampFromMs(60_000);
const opened: Event = {
  case: "clientCall",
  value: { callId: "c1", state: ClientCallState.OPEN, name: "show", deadline },
};
const { TAKEN, ANSWERED } = ClientCallState;

function approval(state: ApprovalState, approvalId = "a1"): Event {
  const value = { approval: { approvalId, state, call: { name: "publish" } } };
  return { case: "approval", value };
}

function usage(costUsd?: number): Event {
  return { case: "usage", value: { model: "m", ...(costUsd !== undefined && { costUsd }) } };
}

function guarded(...usages: readonly { costUsd?: number }[]): Event {
  const guards = [{}, ...usages.map((each) => ({ usage: each }))];
  return { case: "pluginHookFinished", value: { guards } };
}

function runAfter(...events: readonly Event[]) {
  const envelopes = events.map((event, index) =>
    create(RunEventSchema, { runId: "run_1", sequence: index + 1, event }),
  );
  return runOf(foldHead(emptyHead, envelopes));
}

test("a run says for which client it waits, until the client has answered", () => {
  const taken: Event = {
    case: "clientCall",
    value: { callId: "c1", state: TAKEN, clientId: "page" },
  };
  const answered: Event = { case: "clientCall", value: { callId: "c1", state: ANSWERED } };
  expect(runAfter(created, opened, taken).waitingFor).toMatchObject([
    { kind: RunWaitKind.CLIENT_CALL, id: "c1", name: "show", clientId: "page", until: deadline },
  ]);
  expect(runAfter(created, opened, taken, answered).waitingFor).toEqual([]);
});

test("a call of a client that got a result without an answer is no wait", () => {
  const result: Event = { case: "toolResult", value: { result: { callId: "c1" } } };
  expect(runAfter(created, opened, result).waitingFor).toEqual([]);
});

test("a run waits for a decision until it is made, and for nothing after its end", () => {
  const asked = approval(ApprovalState.PENDING);
  expect(runAfter(created, asked, asked).waitingFor).toMatchObject([
    { kind: RunWaitKind.DECISION, id: "a1", name: "publish" },
  ]);
  expect(runAfter(created, asked, approval(ApprovalState.APPROVED)).waitingFor).toEqual([]);
  const ended: Event = { case: "status", value: { status: RunStatus.CANCELLED } };
  expect(runAfter(created, asked, opened, ended).waitingFor).toEqual([]);
});

test("a run that waits for more than clients see still waits when these have ended", () => {
  const ids = Array.from({ length: 25 }, (_, id) => id);
  const all = ids.map((id) => approval(ApprovalState.PENDING, `a${id}`));
  expect(runAfter(created, ...all).waitingFor.map(({ id }) => id)).toHaveLength(20);
  const decided = ids.slice(0, 20).map((id) => approval(ApprovalState.APPROVED, `a${id}`));
  const left = runAfter(created, ...all, ...decided).waitingFor;
  expect(left.map(({ id }) => id)).toEqual(["a20", "a21", "a22", "a23", "a24"]);
});

test("a run says what it has cost so far, unless a model without a price was called", () => {
  expect(runAfter(created).spentUsd).toBe(0);
  expect(runAfter(created, usage(0.25), usage(0.5)).spentUsd).toBe(0.75);
  expect(runAfter(created, usage(), usage(0.5)).spentUsd).toBeUndefined();
  const costs = [{ costUsd: 0.25 }, { costUsd: 0.5 }];
  expect(runAfter(created, usage(0.25), guarded(...costs)).spentUsd).toBe(1);
  expect(runAfter(created, guarded({}), usage(0.5)).spentUsd).toBeUndefined();
});
