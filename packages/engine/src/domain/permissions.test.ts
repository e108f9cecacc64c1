import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState, GateKind } from "@reeve/contracts/approval";
import { PermissionBehavior, ToolStatus } from "@reeve/contracts/tool";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";

const { ASK, ALLOW, DENY } = PermissionBehavior;

const run = { name: "run_command", inputSchema: { type: "object", required: ["command"] } };

/** Plays a run of an agent with permission rules, `behavior tool` each. */
function played(
  rules: readonly string[],
  spec: ConstructorParameters<typeof PlayedRun>[0] = {},
  defaultBehavior = "allow",
): PlayedRun {
  const section = {
    default_behavior: defaultBehavior,
    rules: rules.map((line) => {
      const [behavior = "", ...tool] = line.split(" ");
      return { behavior, tool: tool.join(" ") };
    }),
  };
  const sections = { permission: fromJson(ValueSchema, section) };
  return new PlayedRun({ ...spec, sections }, { tools: [run, { name: "search" }] });
}

const command = (text: string) => ({ name: "run_command", args: { command: text } });

describe("a permission rule", () => {
  // Requirement: RES-10
  test("that denies a call gives the model an error that names it, and nothing is requested", () => {
    const player = played(["deny run_command(rm *)"], { hitlTools: ["run_command"] });
    player.turn(command("rm -rf /"));
    expect(player.all("approval")).toEqual([]);
    expect(player.all("toolCallStarted")).toEqual([]);
    const content = "the permission rule run_command(rm *) of the agent denies this call";
    expect(player.resultsSeen()).toEqual([content]);
    const permission = { behavior: DENY, rule: "run_command(rm *)", source: "agent" };
    expect(player.all("toolResult")[0]?.result?.metadata).toMatchObject({
      status: ToolStatus.ERROR,
      permission,
    });
    expect(treeOf(player.state.head.tree).nodes).toMatchObject([{ permission, isError: true }]);
  });

  test("that asks requests an approval that names it", () => {
    const player = played(["ask run_command(git push*)"]).turn(command("git push"));
    expect(player.all("approval")[0]?.approval).toMatchObject({
      state: ApprovalState.PENDING,
      gates: [GateKind.PERMISSION],
      permission: { behavior: ASK, rule: "run_command(git push*)", source: "agent" },
    });
    player.decides(ApprovalState.APPROVED).result(0, "pushed");
    expect(player.all("toolResult")[0]?.result?.metadata?.permission).toMatchObject({
      behavior: ASK,
      rule: "run_command(git push*)",
    });
  });

  test("that allows a call does not remove an approval that hitl_tools requires", () => {
    const player = played(["allow *"], { hitlTools: ["search"] }).turn({ name: "search" });
    const [requested] = player.all("approval");
    expect(requested?.approval).toMatchObject({ gates: [GateKind.TOOL] });
    expect(requested?.approval?.permission).toBeUndefined();
  });

  test("that allows a call is named by its start and its result", () => {
    const player = played(["allow search"], {}, "ask").turn({ name: "search" });
    const permission = { behavior: ALLOW, rule: "search", source: "agent" };
    expect(player.all("toolCallStarted")).toMatchObject([{ permission }]);
    player.result(0, "found");
    expect(player.all("toolResult")[0]?.result?.metadata).toMatchObject({ permission });
  });

  // Requirement: HITL-2
  test("denies an approved call whose edited arguments it matches", () => {
    const spec = { approvalPolicy: { allowEditedArguments: true } };
    const player = played(["deny run_command(rm *)", "ask run_command"], spec);
    player.turn(command("ls")).decides(ApprovalState.APPROVED, { edited: { command: "rm x" } });
    expect(player.all("toolCallStarted")).toEqual([]);
    expect(player.resultsSeen()[0]).toContain("run_command(rm *) of the agent denies this call");
  });

  test("decides about a tool of the runtime only if it names it", () => {
    const player = played(["deny memory_write(secret*)"], {}, "ask");
    player.turn(
      { name: "memory_write", args: { key: "a", value: "1" } },
      { name: "memory_write", args: { key: "secret", value: "1" } },
    );
    expect(player.all("approval")).toEqual([]);
    expect(player.resultsSeen()).toEqual([
      "kept under a",
      expect.stringContaining("memory_write(secret*) of the agent denies this call"),
    ]);
  });

  test("of the operator's policy when the run was prepared decides with those of the agent", () => {
    const permissions = [
      { policyRule: "base", rules: [{ tool: "search", behavior: ASK }] },
      { policyRule: "hard", rules: [{ tool: "run_command(rm *)", behavior: DENY }] },
    ];
    const player = new PlayedRun(
      {},
      { tools: [run, { name: "search" }], prepared: { policy: { permissions } } },
    );
    player.turn({ name: "search" }, command("rm x"), command("ls"));
    expect(player.all("approval")[0]?.approval?.permission).toMatchObject({
      rule: "search",
      source: "policy",
      policyRule: "base",
    });
    expect(player.all("toolResult")[0]?.error).toBe(
      'the permission rule run_command(rm *) in the rule "hard" of the operator\'s policy denies this call',
    );
    expect(player.all("toolCallStarted")).toHaveLength(1);
  });
});
