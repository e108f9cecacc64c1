import { create } from "@bufbuild/protobuf";
import { ApprovalState, DecisionSchema, GateKind } from "@reeve/contracts/approval";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { RunStatus } from "@reeve/contracts/run";
import { approvalsOf } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import type { MemoryPlugin } from "../../../test/support/plugins/memory-plugins.ts";
import { benchWith, endOf, gate } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, resultsOf } from "../../../test/support/worker-bench.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";

describe("the verdict of a tool gate", () => {
  const deny = gate({ verdict: { case: "deny", value: { reason: "not today" } } });
  const ask = gate({ verdict: { case: "ask", value: { reason: "it is late" } } });
  const allow = gate({ verdict: { case: "allow", value: {} } });

  test("refuses a call, which the model reads by name", async () => {
    const { bench } = await benchWith({ guard: deny });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual(["the plugin guard denies this call: not today"]);
    expect(bench.executed).toEqual([]);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("is the strictest of all plugins", async () => {
    const { bench } = await benchWith({ first: allow, second: deny, third: ask });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([expect.stringContaining("second denies")]);
  });

  test("has a person decide", async () => {
    const { bench } = await benchWith({ guard: ask });
    await bench.drive("w");
    expect(approvalsOf(await endOf(bench))).toMatchObject([
      { gates: [GateKind.PLUGIN], pluginReasons: ["guard: it is late"] },
    ]);
    await bench.decide(ApprovalState.APPROVED);
    await bench.drive("w", 2);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });

  test("does not lift the approval that the agent requires", async () => {
    const { bench } = await benchWith({ guard: allow }, { spec: { hitlTools: ["count"] } });
    await bench.drive("w");
    expect(approvalsOf(await endOf(bench))).toMatchObject([{ gates: [GateKind.TOOL] }]);
    expect(bench.executed).toEqual([]);
  });

  test("replaces the arguments, on which rules and the gate decide again", async () => {
    const seen: unknown[] = [];
    const replacing: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      hook({ data }) {
        if (data.case !== "call") return {};
        seen.push(data.value.arguments);
        return data.value.arguments?.["path"] === "safe"
          ? {}
          : { verdict: { case: "rewrite", value: { arguments: { path: "safe" } } } };
      },
    };
    const { bench } = await benchWith({ guard: replacing }, { spec: { hitlTools: ["count"] } });
    await bench.drive("w");
    expect(seen).toEqual([{}, { path: "safe" }]);
    expect(approvalsOf(await endOf(bench))[0]?.call?.arguments).toEqual({ path: "safe" });
  });

  test("is given anew for the arguments with which a person approves the call", async () => {
    const seen: unknown[] = [];
    const strict: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      hook({ data }) {
        if (data.case !== "call") return {};
        seen.push(data.value.arguments);
        return data.value.arguments?.["path"] === "secret"
          ? { verdict: { case: "deny", value: {} } }
          : {};
      },
    };
    const spec = { hitlTools: ["count"], approvalPolicy: { allowEditedArguments: true } };
    const { bench } = await benchWith({ guard: strict }, { spec });
    await bench.drive("w");
    const editedArguments = { path: "secret" };
    const decision = create(DecisionSchema, { approved: true, editedArguments });
    await bench.decide(ApprovalState.APPROVED, undefined, decision);
    await bench.drive("w", 2);
    expect(seen).toEqual([{}, editedArguments]);
    expect(await resultsOf(bench)).toEqual(["the plugin guard denies this call"]);
    expect(bench.executed).toEqual([]);
  });

  test("decides on the calls of the planner too", async () => {
    const calls = [["count", "{}"]] as const;
    const planned = await benchWith({ guard: deny }, { calls, spec: { planningEnabled: true } });
    await planned.bench.drive("w");
    expect(await resultsOf(planned.bench)).toEqual([expect.stringContaining("guard denies")]);
    expect(planned.bench.executed).toEqual([]);
  });

  test("is a refusal if two plugins replace the arguments", async () => {
    const { bench } = await benchWith({ a: rewrite("1"), b: rewrite("2") });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([expect.stringContaining("a, b also replaces")]);
  });

  test("is a refusal if the plugin gives none", async () => {
    const broken: MemoryPlugin = {
      descriptor: { phases: [HookPhase.TOOL_GATE] },
      ignoresFailures: true,
      hook: () => Promise.reject(new PluginFailure("it threw", { retryable: false })),
    };
    const { bench } = await benchWith({ guard: broken });
    await bench.drive("w");
    expect(await resultsOf(bench)).toEqual([
      "the plugin guard did not decide on this call: it threw",
    ]);
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });

  test("stops the run", async () => {
    const stop = gate({ verdict: { case: "stop", value: { reason: "enough" } } });
    const { bench } = await benchWith({ guard: stop });
    await bench.drive("w");
    expect((await endOf(bench)).error).toMatchObject({
      reason: "plugin_stopped",
      message: "the plugin guard stopped the run: enough",
    });
    expect(bench.executed).toEqual([]);
  });
});

function rewrite(path: string): MemoryPlugin {
  return gate({ verdict: { case: "rewrite", value: { arguments: { path } } } });
}
