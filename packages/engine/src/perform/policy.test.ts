import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { Role } from "@reeve/contracts/access/role";
import type { RunPrepared } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { ToolSettings } from "@reeve/contracts/tool";
import { PermissionClass, ToolCallRequestSchema } from "@reeve/contracts/tool";
import { create } from "@bufbuild/protobuf";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel, countingModel, meanwhile } from "../../test/support/models.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";

const policyOf = (text: string) => parsePolicyFile(text, "policy.yaml");
const startedBy = { startedByRoles: [Role.RUNNER], hasPolicy: true };

/** Drives a run, and passes the settings of each call that it requests to `see`. */
async function driveAndSee(bench: WorkerBench, see: (settings: ToolSettings) => void) {
  const ports = bench.ports("w");
  await bench.drive("w", 1, undefined, 1, {
    ...ports,
    toolCalls: async (pool) => {
      const queue = await ports.toolCalls(pool);
      return {
        ...queue,
        publish: (request, ...rest) => {
          const { settings } = create(ToolCallRequestSchema, request);
          if (settings !== undefined) see(settings);
          return queue.publish(request, ...rest);
        },
      };
    },
  });
}

/** Returns the settings of the network of a call of an agent with a credential, under a policy. */
async function networkUnder(policy: string, permissionClasses = ["secrets"]) {
  const sent: ToolSettings[] = [];
  const bench = new WorkerBench(countingModel(1));
  bench.policy = policyOf(policy);
  const network = { allow: ["a.example.org:443"], credentials: ["tracker"] };
  await bench.create({ permissionClasses, deepAgent: { network } }, startedBy);
  await driveAndSee(bench, (settings) => sent.push(settings));
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  expect(sent).toHaveLength(1);
  const { warnings } = (await preparedBy(bench)) ?? {};
  return { ...sent[0], warnings };
}

async function preparedBy(bench: WorkerBench): Promise<RunPrepared | undefined> {
  return foldHead(emptyHead, await bench.events()).prepared;
}

describe("the start of a run", () => {
  // Requirement: PERM-2
  test("records what the policy decided, and the run has only what it allows", async () => {
    const bench = new WorkerBench(countingModel(0));
    bench.policy = policyOf(`
rules:
  - { name: base, deny: { tools: [other] }, limits: { max_rounds: 3, budgets: { max_tool_calls: 9 } } }
  - { name: hosts, allow: { network_hosts: ["*.example.org:443"] } }`);
    const network = { allow: ["api.example.org:443", "evil.org:443"] };
    await bench.create({ maxRounds: 5, deepAgent: { network } }, startedBy);
    bench.offers({ name: "allowed", permissionClass: PermissionClass.SAFE, source: "builtin" });
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    const prepared = await preparedBy(bench);
    const names = prepared?.tools.map(({ name }) => name);
    expect(names).toContain("allowed");
    expect(names).not.toContain("other");
    expect(prepared?.limits).toMatchObject({ maxRounds: 3, budgets: { maxToolCalls: 9 } });
    expect(prepared?.policy).toMatchObject({
      rules: ["base", "hosts"],
      withheld: [
        { kind: "network_hosts", name: "evil.org:443", rule: "hosts", tool: "" },
        { kind: "tools", name: "other", rule: "base", tool: "other" },
      ],
      networkAllow: ["api.example.org:443"],
    });
    expect(prepared?.warnings.join("\n")).toContain(
      'max_rounds is lowered from 5 to 3 by the rule "base"',
    );
  });

  test("depends on the roles and the place of the run", async () => {
    const policy = policyOf(`
rules:
  - { name: runners, when: { roles: [runner] }, deny: { tools: [other] } }
  - { name: threads, when: { contexts: [thread] }, deny: { tools: [count] } }`);
    const toolsOf = async (roles: Role[]) => {
      const bench = new WorkerBench(countingModel(0));
      bench.policy = policy;
      await (await bench.create({}, { startedByRoles: roles })).drive("w");
      return (await preparedBy(bench))?.tools.map(({ name }) => name) ?? [];
    };
    expect(await toolsOf([Role.RUNNER])).not.toContain("other");
    expect(await toolsOf([Role.OPERATOR])).toContain("other");
    expect(await toolsOf([Role.OPERATOR])).toContain("count");
    // The log of an earlier version has no roles.
    expect(await toolsOf([])).not.toContain("other");
  });

  test("ends a run whose model is withheld, with the rule", async () => {
    const bench = new WorkerBench(countingModel(0));
    bench.policy = policyOf("rules: [{ name: no-test, deny: { providers: [test] } }]");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.ERROR);
    const { error } = foldHead(emptyHead, await bench.events());
    expect(error?.message).toContain('the rule "no-test" of the operator\'s policy');
  });

  test("fails at a worker without the policy of the gateway", async () => {
    const bench = await new WorkerBench(countingModel(0)).create({}, startedBy);
    await bench.drive("w");
    expectWhole(await bench.events(), RunStatus.ERROR);
    const { error } = foldHead(emptyHead, await bench.events());
    expect(error?.message).toContain("set REEVE_POLICY_FILE of all runtimes");
  });
});

describe("the memories of the user", () => {
  const never = new AbortController().signal;

  async function preparedUnder(rules: string): Promise<RunPrepared | undefined> {
    const bench = new WorkerBench(countingModel(0));
    bench.policy = policyOf(rules);
    const owner = { tenant: "acme", user: "ann" };
    await bench.memory.remember(owner, "always go north", { runId: "", requestId: "" }, never);
    await bench.create({}, { ...startedBy, startedBy: "ann", memoryEnabled: true });
    await bench.drive("w");
    return await preparedBy(bench);
  }

  // Requirement: PERM-2
  test.each(["tools: [recall]", "tool_classes: [knowledge]"])(
    "are left out of a run, with a warning, under a rule that denies %s",
    async (list) => {
      const prepared = await preparedUnder(`rules: [{ name: no-memory, deny: { ${list} } }]`);
      expect(prepared?.recalled).toEqual([]);
      expect(prepared?.warnings).toContainEqual(
        expect.stringMatching(/^memory_enabled: no memories are recalled: the rule "no-memory"/),
      );
    },
  );

  test("are in a run from which the policy withholds only other tools", async () => {
    const prepared = await preparedUnder("rules: [{ name: a, deny: { tools: [remember] } }]");
    expect(prepared?.recalled).toEqual([expect.stringContaining("always go north")]);
    expect(prepared?.warnings.join()).not.toContain("memory_enabled");
  });
});

describe("a call", () => {
  const denyCount = policyOf("rules: [{ name: no-count, deny: { tools: [count] } }]");

  // Requirement: PERM-2
  test("that the policy of now withholds is a tool error with the rule, and is never executed", async () => {
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => (bench.policy = denyCount)),
    );
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toEqual([]);
    expect(await resultsOf(bench)).toEqual([
      'the call was cancelled: the rule "no-count" of the operator\'s policy withholds the tool count',
    ]);
  });

  test("of a subtask is under the policy of the run", async () => {
    const instructions = '{"title":"t","instructions":"count it"}';
    const bench: WorkerBench = new WorkerBench(
      callingModel(
        [
          ["run_subtask", instructions],
          ["count", "{}"],
        ],
        () => (bench.policy = denyCount),
      ),
    );
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain('the rule "no-count"');
  });

  test("of a tool of the runtime is refused too", async () => {
    const denied = policyOf("rules: [{ name: no-artifacts, deny: { tools: [retrieve_*] } }]");
    const call = ["retrieve_artifact", '{"artifact_id":"art_0123456789abcdef"}'] as const;
    const bench: WorkerBench = new WorkerBench(callingModel([call], () => (bench.policy = denied)));
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(await resultsOf(bench)).toEqual([
      'the rule "no-artifacts" of the operator\'s policy withholds the tool retrieve_artifact',
    ]);
  });

  test("reaches only hosts that the policy allows at the start and now", async () => {
    const sent: string[] = [];
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => {
        bench.policy = policyOf(
          'rules: [{ name: now, deny: { network_hosts: ["b.example.org:443"] } }]',
        );
      }),
    );
    bench.policy = policyOf(
      'rules: [{ name: start, allow: { network_hosts: ["*.example.org:443"] } }]',
    );
    const allow = ["a.example.org:443", "b.example.org:443", "c.org:443"];
    await bench.create({ deepAgent: { network: { allow } } }, startedBy);
    await driveAndSee(bench, ({ networkAllow }) => sent.push(...networkAllow));
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(sent).toEqual(["a.example.org:443"]);
  });

  // Requirement: WEB-7
  test("of a web tool says that its agent asks for it", async () => {
    const sent: ToolSettings[] = [];
    const bench = new WorkerBench(countingModel(1, [], "look"));
    bench.policy = policyOf("rules: []");
    bench.offers({ name: "look", permissionClass: PermissionClass.NETWORK, source: "builtin" });
    await bench.create({ permissionClasses: ["network"] }, startedBy);
    await driveAndSee(bench, (settings) => sent.push(settings));
    expect(sent).toMatchObject([{ webTools: true, delegateId: "" }]);
  });

  test("uses the credentials of its agent, and has no network at a toolhost that does not know them", async () => {
    expect(await networkUnder("rules: []")).toMatchObject({
      networkCredentials: ["tracker"],
      networkAllow: [],
      networkAllowWithCredentials: ["a.example.org:443"],
      warnings: [],
    });
  });

  // Requirement: PERM-2
  test("uses no credentials if the policy withholds secrets, or the spec does not name the class", async () => {
    const denied = "rules: [{ name: none, deny: { tool_classes: [secrets] } }]";
    for (const [settings, why] of [
      [await networkUnder(denied), 'the rule "none"'],
      [await networkUnder("rules: []", []), "permission_classes does not name the class secrets"],
    ] as const) {
      expect(settings).toMatchObject({
        networkCredentials: [],
        networkAllow: ["a.example.org:443"],
        networkAllowWithCredentials: [],
        warnings: [expect.stringContaining(why)],
      });
    }
  });

  test("uses no credentials once the policy withholds secrets", async () => {
    const sent: ToolSettings[] = [];
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => {
        bench.policy = policyOf("rules: [{ name: now, deny: { tool_classes: [secrets] } }]");
      }),
    );
    bench.policy = policyOf("rules: []");
    const network = { allow: ["a.example.org:443"], credentials: ["tracker"] };
    await bench.create({ permissionClasses: ["secrets"], deepAgent: { network } }, startedBy);
    await driveAndSee(bench, (settings) => sent.push(settings));
    expect(sent).toMatchObject([{ networkCredentials: [], networkAllowWithCredentials: [] }]);
  });

  // Requirement: PERM-2
  test("uses no credentials that were withheld at the start, also when the policy allows them later", async () => {
    const sent: ToolSettings[] = [];
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => {
        bench.policy = policyOf("rules: []");
      }),
    );
    bench.policy = policyOf("rules: [{ name: start, deny: { tool_classes: [secrets] } }]");
    const network = { allow: ["a.example.org:443"], credentials: ["tracker"] };
    await bench.create({ permissionClasses: ["secrets"], deepAgent: { network } }, startedBy);
    await driveAndSee(bench, (settings) => sent.push(settings));
    expect(sent).toMatchObject([{ networkCredentials: [], networkAllowWithCredentials: [] }]);
  });

  test("of a model that the policy of now withholds fails, and its provider is not called", async () => {
    let calls = 0;
    const bench: WorkerBench = new WorkerBench(
      meanwhile(countingModel(1), () => {
        calls += 1;
        bench.policy = policyOf("rules: [{ name: no-test, deny: { models: [test:x] } }]");
      }),
    );
    bench.policy = policyOf("rules: []");
    await (await bench.create({}, startedBy)).drive("w");
    expectWhole(await bench.events(), RunStatus.ERROR);
    expect(calls).toBe(1);
    const { error } = foldHead(emptyHead, await bench.events());
    expect(error?.message).toContain('the rule "no-test" of the operator\'s policy withholds');
  });

  test("of a model that is withheld now goes to the fallback model", async () => {
    const models = ["x", "y"].map((id) => ({ id, provider: "test", upstreamName: id }));
    const bench: WorkerBench = new WorkerBench(countingModel(0), models);
    const denied = policyOf("rules: [{ name: no-x, deny: { models: [x] } }]");
    await bench.create({ model: "x", fallbackModels: ["y"] }, startedBy);
    const ports = bench.ports("w");
    bench.policy = policyOf("rules: []");
    let asked = 0;
    // The run is prepared under the first policy, and its model is called under the second.
    const policy = () => (asked++ === 0 ? bench.policy : denied);
    await bench.drive("w", 1, undefined, 1, { ...ports, policy });
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    const failed = events.flatMap(({ event }) =>
      event.case === "modelCallFailed" ? [event.value] : [],
    );
    expect(failed).toMatchObject([{ reason: "withheld", fallbackModel: "y" }]);
  });
});
