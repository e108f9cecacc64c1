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

const execute = { name: "execute", permissionClass: PermissionClass.EXECUTE, source: "builtin" };
const credentialed = {
  permissionClasses: ["execute", "secrets"],
  deepAgent: { network: { allow: ["a.example.org:443"], credentials: ["tracker"] } },
};

/** Executes one call of a tool, at toolhosts that ignore credentials. */
async function withOlderHosts(tool: string, spec: typeof credentialed): Promise<WorkerBench> {
  const run = new WorkerBench(callingModel([[tool, "{}"]], () => undefined)).offers(execute);
  run.isolation = "bubblewrap";
  run.usesCredentials = false;
  await (await run.create(spec)).drive("w");
  expectWhole(await run.events(), RunStatus.COMPLETED);
  return run;
}

describe("with a toolhost that ignores credentials for hosts", () => {
  test("a call of code of an agent with credentials is not sent", async () => {
    const run = await withOlderHosts("execute", credentialed);
    expect(run.executed).toEqual([]);
    expect(await resultsOf(run)).toEqual([
      'the call was cancelled: host host-1 of the pool of toolhosts "" has a version that ignores the credentials for hosts that an agent names; update toolhosts first',
    ]);
  });

  test("calls that use no network, and agents without credentials, are served", async () => {
    expect((await withOlderHosts("count", credentialed)).executed).toHaveLength(1);
    const { allow } = credentialed.deepAgent.network;
    const plain = { ...credentialed, deepAgent: { network: { allow, credentials: [] } } };
    expect((await withOlderHosts("execute", plain)).executed).toHaveLength(1);
  });
});

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
