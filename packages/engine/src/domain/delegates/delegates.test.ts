import type { MessageInitShape } from "@bufbuild/protobuf";
import type { BudgetsSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { PermissionClass } from "@reeve/contracts/tool";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { describe, expect, test } from "vitest";
import {
  ask,
  delegatingRun as played,
  fetchTool,
  rules,
} from "../../../test/support/delegating-run.ts";
import { answerRequest } from "../model/render-request.ts";
import { modelOf } from "../model/model-of.ts";
import { applyAll } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";

const limits = (budgets: Omit<MessageInitShape<typeof BudgetsSchema>, "$typeName">) => ({
  limits: { budgets },
});

// Requirement: RES-7
describe("a delegate", () => {
  test("works with its own model, instructions, and tools, and its answer is the result of the call", () => {
    const run = played().turn(ask("finder", "find the answer"));
    const [id = ""] = run.subtasks;
    const frame = run.frame(id);
    expect(modelOf(run.state, frame)?.id).toBe("f");
    const request = answerRequest(run.state, frame, undefined);
    expect(request.instructions).toContain("You are finder.");
    expect(request.instructions).not.toContain("You lead.");
    expect(request.messages).toEqual([{ role: "user", text: "find the answer" }]);
    expect(request.tools.map(({ name }) => name)).toEqual(["agent_run_checker", "fetch", "search"]);
    run.says("It is 4.", id).turnIn(id);
    expect(run.resultsSeen()).toEqual(["It is 4."]);
    expect(run.says("Done.").turn().end).toBe("completed");
    expect(run.all("subtask")).toMatchObject([
      { agentId: "finder", title: "finder: find the answer", ended: false },
      { agentId: "finder", ended: true, isError: false },
    ]);
    expect(treeOf(run.state.head.tree).nodes).toMatchObject([
      { name: "agent_run_finder", title: "finder: find the answer" },
    ]);
    expect(applyAll(initialState, run.events)).toEqual(run.state);
  });

  test("has its subtasks done by itself", () => {
    const subtask = { name: "run_subtask", permissionClass: PermissionClass.SUBAGENT };
    const tools = [{ ...subtask, source: "runtime" }];
    const run = played({}, { prepared: { tools } }).turn(ask("finder"));
    const args = { title: "part", instructions: "do a part" };
    run.turnIn(run.subtasks[0] ?? "", [{ name: "run_subtask", args }]);
    const [, part = ""] = run.subtasks;
    expect(modelOf(run.state, run.frame(part))?.id).toBe("f");
    expect(answerRequest(run.state, run.frame(part), undefined).instructions).toContain("finder");
  });

  test("that fails is an error for its caller only", () => {
    const run = played().turn(ask("finder"));
    run.fails("refused", { id: run.subtasks[0] ?? "" });
    expect(run.resultsSeen()[0]).toContain("refused");
    expect(run.all("toolResult")[0]?.success).toBe(false);
    expect(run.says("Without it.").turn().end).toBe("completed");
  });

  test("gives a typed answer if its spec has a schema", () => {
    const outputSchema = { type: "object", properties: { n: { type: "integer" } } };
    const run = played({}, { spec: { outputSchema } }).turn(ask("finder"));
    const [id = ""] = run.subtasks;
    run.turnIn(id, [{ name: "finish_subtask", args: { n: "4" } }]);
    run.turnIn(id, [{ name: "finish_subtask", args: { n: 4 } }]);
    expect(run.all("toolResult").at(-1)?.result).toMatchObject({
      content: `{"n":4}`,
      structured: { n: 4 },
    });
  });

  test("that a call names with an empty prompt, or that the run does not have, does not begin", () => {
    const run = played({}, { prepared: { sharedTools: ["search", "agent_run_checker"] } });
    run.turn(ask("finder", " "));
    expect(run.resultsSeen()[0]).toContain("empty");
    expect(run.all("subtask")).toEqual([]);
  });

  test("has no secrets, even if its log says so", () => {
    const secret = { name: "read_secret", permissionClass: PermissionClass.SECRETS };
    const run = played({}, { prepared: { tools: [secret, fetchTool] } }).turn(ask("finder"));
    expect([...run.frame(run.subtasks[0]).tools.keys()]).not.toContain("read_secret");
  });
});

describe("the rules of its callers", () => {
  // Requirement: RES-10
  test("deny calls of a delegate, beside its own rules and those of the policy", () => {
    const run = played(
      { sections: rules("deny fetch(*secret*)") },
      { spec: { sections: rules("deny fetch(*own*)") } },
    );
    run.turn(ask("finder"));
    const [id = ""] = run.subtasks;
    run.turnIn(id, [
      { name: "fetch", args: { url: "a secret" } },
      { name: "fetch", args: { url: "its own" } },
      { name: "fetch", args: { url: "free" } },
    ]);
    run.result(2, "fetched", id);
    expect(run.resultsSeen(id)).toEqual([
      expect.stringContaining(`fetch(*secret*) of the agent "tester"`),
      expect.stringContaining(`fetch(*own*) of the agent "finder"`),
      "fetched",
    ]);
    const [denied] = run.all("toolResult");
    expect(denied?.result?.metadata?.permission).toMatchObject({
      source: "agent",
      agentId: "tester",
    });
  });

  test("remove a tool of which they deny every call, also through another delegate", () => {
    const run = played({ sections: rules("deny fetch") }).turn(ask("finder"));
    const [finder = ""] = run.subtasks;
    expect([...run.frame(finder).tools.keys()]).toEqual(["agent_run_checker", "search"]);
    run.turnIn(finder, [ask("checker")]);
    const [, checker = ""] = run.subtasks;
    expect([...run.frame(checker).tools.keys()]).toEqual([]);
  });

  test("do not hold for a delegate that nobody with these rules called", () => {
    const sections = rules("deny fetch");
    const run = played({}, { spec: { sections } }).turn(ask("checker"));
    expect([...run.frame(run.subtasks[0]).tools.keys()]).toEqual(["fetch"]);
  });

  test("require approvals by people, who see which agent makes the call", () => {
    const run = played({ hitlTools: ["fetch"] }, { spec: { hitlTools: ["search"] } });
    run.turn(ask("finder"));
    const [id = ""] = run.subtasks;
    run.turnIn(id, [{ name: "fetch", args: { url: "u" } }, { name: "search" }]);
    const approvals = run.all("approval").map(({ approval }) => approval);
    expect(approvals.map((each) => [each?.call?.name, each?.delegateId, each?.agentId])).toEqual([
      ["fetch", "finder", "tester"],
      ["search", "finder", "tester"],
    ]);
    run.decides(ApprovalState.APPROVED).result(0, "fetched", id);
    run.decides(ApprovalState.REJECTED);
    expect(run.resultsSeen(id)).toEqual(["fetched", expect.stringContaining("rejected")]);
    expect(run.says("Found.", id).turnIn(id).resultsSeen()).toEqual(["Found."]);
  });
});

// Requirement: BUD-1
describe("the budget of a delegate", () => {
  test("ends it, and not the run", () => {
    const run = played({}, { prepared: limits({ maxLlmCalls: 2 }) }).turn(ask("finder"));
    const [id = ""] = run.subtasks;
    for (let turn = 0; turn < 2; turn++) {
      run.turnIn(id, [{ name: "search" }]).result(0, "found", id);
    }
    expect(run.resultsSeen()[0]).toContain("may use 2 llm calls");
    expect(run.all("subtask").at(-1)).toMatchObject({ ended: true, error: "budget_exceeded" });
    expect(run.says("Enough.").turn().end).toBe("completed");
  });

  test("includes what its own delegates use", () => {
    const run = played({}, { prepared: limits({ maxTotalTokens: 40 }) }).turn(ask("finder"));
    const [finder = ""] = run.subtasks;
    run.turnIn(finder, [ask("checker")]);
    run.says("Checked.", run.subtasks[1]).turnIn(run.subtasks[1] ?? "", [], { outputTokens: 30 });
    expect(run.resultsSeen()[0]).toContain("may use 40 tokens");
  });

  test("refuses tool calls beyond its limit", () => {
    const run = played({}, { prepared: limits({ maxToolCalls: 1 }) }).turn(ask("finder"));
    const [id = ""] = run.subtasks;
    run.turnIn(id, [{ name: "search" }, { name: "search" }]);
    expect(run.all("toolCallStarted")).toEqual([]);
    expect(run.resultsSeen()[0]).toContain("may use 1 tool calls");
  });

  test("limits its subtasks and their depth", () => {
    const run = played({}, { prepared: limits({ maxDepth: 0 }) }).turn(ask("finder"));
    const [id = ""] = run.subtasks;
    run.turnIn(id, [ask("checker")]);
    expect(run.resultsSeen(id)[0]).toContain("0 deep");
  });

  test("is not more than that of the run", () => {
    const budgets = { maxLlmCalls: 2 };
    const run = played({ budgets }, { prepared: limits({ maxLlmCalls: 50 }) }).turn(ask("finder"));
    run.turnIn(run.subtasks[0] ?? "", [{ name: "search" }]).result(0, "found", run.subtasks[0]);
    expect(run.end).toBe("error");
  });

  test("is the same for each of its calls", () => {
    const run = played({}, { prepared: limits({ maxLlmCalls: 1 }) });
    run.turn(ask("finder"), ask("finder"));
    for (const id of run.subtasks) run.says("found", id).turnIn(id);
    expect(run.resultsSeen()).toEqual(["found", "found"]);
  });
});

test("calls of delegates are nested as deep as subtasks", () => {
  const run = played({ budgets: { maxDepth: 1 } }).turn(ask("finder"));
  const [id = ""] = run.subtasks;
  run.turnIn(id, [ask("checker")]);
  expect(run.resultsSeen(id)[0]).toContain("1 deep");
});
