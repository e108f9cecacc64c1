import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { Role } from "@reeve/contracts/access/role";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunCreatedSchema, RunPreparedSchema, RunStatus } from "@reeve/contracts/run";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel, countingModel, meanwhile } from "../../test/support/models.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { initialState, rootOf } from "../domain/state/run-state.ts";
import { networkSettings } from "./call-network.ts";
import { policyNow, withheldNow } from "./policy-now.ts";

const policyOf = (text: string) => parsePolicyFile(text, "policy.yaml");
const startedBy = { startedByRoles: [Role.RUNNER], hasPolicy: true };

/** Returns the state of a run with this start and this preparation. */
function stateOf(
  created: MessageInitShape<typeof RunCreatedSchema>,
  prepared: MessageInitShape<typeof RunPreparedSchema> = {},
): RunState {
  const head = {
    ...emptyHead,
    created: create(RunCreatedSchema, created),
    prepared: create(RunPreparedSchema, prepared),
  };
  return { ...initialState, head };
}

describe("a worker without the policy of a run", () => {
  /** Where a log says that the run is under a policy. */
  const startedAs = [
    ["the gateway", true],
    ["only the worker that prepared it", false],
  ] as const;

  // Requirement: PERM-2
  test.each(startedAs)("executes none of its calls; %s had one", async (_, hasPolicy) => {
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => (bench.policy = undefined)),
    );
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, { ...startedBy, hasPolicy })).drive("w");
    expectWhole(await bench.events(), RunStatus.ERROR);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain(
      "the call was cancelled: run run_memory was started under an operator's policy, and worker w has none",
    );
  });

  test("calls none of its tools of the runtime, and none of its models", async () => {
    let calls = 0;
    const call = ["retrieve_artifact", '{"artifact_id":"art_0123456789abcdef"}'] as const;
    const bench: WorkerBench = new WorkerBench(
      callingModel([call], () => {
        calls += 1;
        bench.policy = undefined;
      }),
    );
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.ERROR);
    expect((await resultsOf(bench))[0]).toContain("set REEVE_POLICY_FILE of all runtimes");
    expect(calls).toBe(1);
    const { error } = foldHead(emptyHead, await bench.events());
    expect(error?.message).toContain("set REEVE_POLICY_FILE of all runtimes");
  });

  test("opens none of its hosts", () => {
    const bench = new WorkerBench(countingModel(0));
    const allow = ["a.example.org:443"];
    const spec = create(AgentSpecSchema, { deepAgent: { network: { allow } } });
    const state = stateOf({ ...startedBy, spec });
    const settings = () =>
      networkSettings(state, rootOf(state), policyNow(state, bench.ports("w")));
    expect(settings()).toEqual({ networkAllow: [] });
    bench.policy = policyOf("rules: []");
    expect(settings()).toEqual({ networkAllow: allow });
  });

  test("continues a run that was started without one", async () => {
    const bench = new WorkerBench(countingModel(1));
    await (await bench.create({}, { ...startedBy, hasPolicy: false })).drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });
});

describe("a class that the policy granted at the start", () => {
  const run = { name: "run", permissionClass: PermissionClass.EXECUTE, source: "builtin" };
  const none = policyOf("rules: []");

  /** Drives a run that was prepared under a policy that grants `execute`, and whose policy of now grants nothing. */
  async function driven(permissionClasses: string[]): Promise<WorkerBench> {
    const bench: WorkerBench = new WorkerBench(
      callingModel([["run", "{}"]], () => (bench.policy = none)),
    );
    bench.isolation = "docker";
    bench.policy = policyOf("rules: [{ name: lab, grant: { tool_classes: [execute] } }]");
    await bench.create({ permissionClasses }, startedBy);
    await bench.offers(run).drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    return bench;
  }

  // Requirement: PERM-2
  test("is refused at the call when the policy of now does not grant it", async () => {
    const bench = await driven([]);
    expect(bench.executed).toEqual([]);
    expect(await resultsOf(bench)).toEqual([
      "the call was cancelled: the operator's policy does not grant the class execute now, and permission_classes of the agent does not name it",
    ]);
  });

  test("is not refused to an agent that names it", async () => {
    expect((await driven(["execute"])).executed).toHaveLength(1);
  });

  test("is not refused in a run that was prepared without a policy", () => {
    const bench = new WorkerBench(countingModel(0));
    bench.policy = none;
    const tool = create(ToolDescriptorSchema, run);
    const refusalOf = (state: RunState) =>
      withheldNow(state, rootOf(state), tool, bench.ports("w"));
    expect(refusalOf(stateOf({}, {}))).toBeUndefined();
    expect(refusalOf(stateOf({}, { policy: {} }))).toContain("execute");
  });
});
