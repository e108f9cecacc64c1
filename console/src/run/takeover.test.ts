import { create } from "@bufbuild/protobuf";
import { OwnerFate, RunClaimedSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { takeoverOf } from "./takeover.ts";

const claim = (previousOwner: OwnerFate) =>
  create(RunClaimedSchema, { worker: "b", epoch: 2, previousOwner });

test("a run that continues after a decision has not lost its worker", () => {
  const waiting = { status: RunStatus.WAITING, worker: "a" };
  expect(takeoverOf(waiting, claim(OwnerFate.UNSPECIFIED))).toBeUndefined();
  const running = { status: RunStatus.RUNNING, worker: "a" };
  expect(takeoverOf(running, claim(OwnerFate.ENDED))).toBeUndefined();
});

test("only a worker that crashed was lost, and both workers are named", () => {
  const running = { status: RunStatus.RUNNING, worker: "a" };
  expect(takeoverOf(running, claim(OwnerFate.CRASHED))).toMatchObject({
    text: "The worker was lost; another one continues the run",
    detail: "before: a\nnow: b",
  });
  const texts = [OwnerFate.ALIVE, OwnerFate.UNSPECIFIED].map(
    (fate) => takeoverOf(running, claim(fate))?.text,
  );
  expect(texts).not.toContain("The worker was lost; another one continues the run");
});
