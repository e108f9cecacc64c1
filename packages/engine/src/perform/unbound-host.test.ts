import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";

const publish = {
  name: "publish",
  permissionClass: PermissionClass.SAFE,
  source: "builtin",
  pathArguments: ["path"],
};

function bench(): WorkerBench {
  const model = callingModel([["publish", '{"path":"a"}']], () => undefined);
  return new WorkerBench(model).offers(publish);
}

const refusal =
  'host host-1 of the pool of toolhosts "" has a version that does not check the files that an approval is bound to; update toolhosts first';

describe("with a toolhost that ignores what approvals are bound to", () => {
  test("no person gets a request for a call that names files", async () => {
    const run = bench();
    run.bindsContent = false;
    await (await run.create({ hitlTools: ["publish"] })).drive("w");
    expectWhole(await run.events(), RunStatus.COMPLETED);
    expect(run.executed).toEqual([]);
    expect(await resultsOf(run)).toEqual([expect.stringContaining(refusal)]);
  });

  test("a call that was approved before it came is not sent", async () => {
    const run = bench();
    await (await run.create({ hitlTools: ["publish"] })).drive("w");
    run.bindsContent = false;
    await run.decide(ApprovalState.APPROVED);
    await run.drive("w2", 2);
    expectWhole(await run.events(), RunStatus.COMPLETED);
    expect(run.executed).toEqual([]);
    expect(await resultsOf(run)).toEqual([`the call was cancelled: ${refusal}`]);
  });

  test("a call is sent once all toolhosts check it", async () => {
    const run = bench();
    await (await run.create({ hitlTools: ["publish"] })).drive("w");
    await run.decide(ApprovalState.APPROVED);
    await run.drive("w2", 2);
    expect(run.executed).toHaveLength(1);
  });
});
