import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { ToolStatus } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";

/** Plays a call of `search` by a run that ann started, with an agent that eve saved. */
function played(approvalPolicy: NonNullable<MessageInitShape<typeof ApprovalPolicySchema>>) {
  const run = new PlayedRun(
    { hitlTools: ["search"], approvalPolicy },
    { created: { startedBy: "ann", agentAuthor: "eve" } },
  );
  run.turn({ name: "search", args: { q: "a" } });
  return run;
}

describe("who decides on a call", () => {
  test("is recorded in its approval, with the alternatives that apply to it", () => {
    const run = played({
      excludeRequester: true,
      excludeAuthor: true,
      alternatives: [
        { filter: 'arguments.q == "a"', groups: ["security"], approvals: 2 },
        { filter: 'arguments.q == "b"', people: ["bob"] },
        { filter: "arguments.missing > 1" },
      ],
    });
    expect(run.all("approval")).toMatchObject([
      {
        approval: {
          alternatives: [{ name: "1", groups: ["security"], approvals: 2, denials: 1 }],
          excludedSubjects: ["ann", "eve"],
        },
      },
    ]);
    expect(run.all("approval")[0]?.approval?.alternatives).toHaveLength(1);
  });

  test("is recorded with the wait of the tool, and with who decides later, earliest first", () => {
    const run = played({
      waits: [
        { tools: ["se*"], wait: { seconds: 90n } },
        { tools: ["other"], wait: { seconds: 900n } },
      ],
      alternatives: [{ groups: ["security"] }],
      escalations: [
        { after: { seconds: 7_200n }, alternative: { people: ["lea"], approvals: 0 } },
        { after: { seconds: 3_600n }, alternative: { name: "on-call", groups: ["on-call"] } },
        { after: { seconds: 60n }, alternative: { filter: "arguments.missing > 1" } },
      ],
    });
    const [{ approval } = {}] = run.all("approval");
    const after = (time?: Timestamp) =>
      Number(time?.seconds ?? 0n) - Number(approval?.requestedAt?.seconds ?? 0n);
    expect(after(approval?.decidableAfter)).toBe(90);
    expect(approval?.escalations.map(({ dueAt }) => after(dueAt))).toEqual([3_600, 7_200]);
    expect(approval?.escalations).toMatchObject([
      { alternative: { name: "on-call", approvals: 1, denials: 1 }, revision: 0 },
      { alternative: { name: "escalation-1", people: ["lea"], approvals: 1 } },
    ]);
  });

  describe("with an approval whose arguments a person edited", () => {
    const small = { name: "small", filter: 'arguments.q != "large"', people: ["bob"] };
    const other = { name: "other", filter: "", people: ["amy"] };
    const editable = { allowEditedArguments: true, alternatives: [small, other] };

    /** Bob approves with other arguments by the alternative `small`. */
    function approvedWith(q: string) {
      const run = played(editable);
      return run.decides(ApprovalState.APPROVED, { edited: { q }, by: "bob", reached: "small" });
    }

    test("the call is not executed if the alternative that approved it does not apply to them", () => {
      const run = approvedWith("large");
      const [ended] = run.all("toolResult");
      expect(ended?.result?.metadata?.status).toBe(ToolStatus.REJECTED);
      expect(ended?.error).toContain("does not apply to the arguments");
    });

    test("the call is executed if the alternative still applies", () => {
      const run = approvedWith("b");
      expect(run.all("toolResult")).toEqual([]);
      expect(run.all("toolCallStarted")).toHaveLength(1);
    });
  });

  test.each([
    ["without the votes that its alternatives need", { by: "bob" }],
    ["by a person who may not decide", { by: "ann", reached: "1" }],
  ])("a decision %s, as an older service may store it, executes nothing", (_, decision) => {
    const run = played({ excludeRequester: true, alternatives: [{ people: ["bob"] }] });
    run.decides(ApprovalState.APPROVED, decision);
    const [ended] = run.all("toolResult");
    expect(ended?.result?.metadata?.status).toBe(ToolStatus.REJECTED);
    expect(run.all("toolCallStarted")).toEqual([]);
  });

  test("leaves out those who asked for the runs that this one continues", () => {
    const created = { startedBy: "bob", earlierRequesters: ["ann", "bob"] };
    const spec = { hitlTools: ["search"], approvalPolicy: { excludeRequester: true } };
    const run = new PlayedRun(spec, { created }).turn({ name: "search" });
    expect(run.all("approval")[0]?.approval?.excludedSubjects).toEqual(["bob", "ann"]);
  });

  test("leaves out those who saved the delegates of the agent", () => {
    const delegates = [{ agentId: "finder", author: "lea", spec: { id: "finder" } }];
    const created = { startedBy: "ann", agentAuthor: "eve", delegates };
    const spec = { hitlTools: ["search"], approvalPolicy: { excludeAuthor: true } };
    const run = new PlayedRun(spec, { created }).turn({ name: "search" });
    expect(run.all("approval")[0]?.approval?.excludedSubjects).toEqual(["eve", "lea"]);
  });

  test.each([
    ["exclude_author", { excludeAuthor: true }, { startedBy: "ann" }],
    ["exclude_requester", { excludeRequester: true }, { agentAuthor: "eve" }],
  ])("the call is refused if %s is set and the person is not known", (field, policy, created) => {
    const spec = { hitlTools: ["search"], approvalPolicy: policy };
    const run = new PlayedRun(spec, { created }).turn({ name: "search" });
    expect(run.all("approval")).toEqual([]);
    expect(run.resultsSeen()).toEqual([
      expect.stringContaining(`approval_policy.${field} is set, and it is not known who`),
    ]);
  });

  test.each<[string, NonNullable<MessageInitShape<typeof ApprovalPolicySchema>>]>([
    ["no alternative applies", { alternatives: [{ filter: "arguments.missing > 1" }] }],
    ["only the requester could", { excludeRequester: true, alternatives: [{ people: ["ann"] }] }],
  ])("the call is refused without a request if %s", (_, policy) => {
    const run = played(policy);
    expect(run.all("approval")).toEqual([]);
    const [ended] = run.all("toolResult");
    expect(ended?.result?.metadata?.status).toBe(ToolStatus.REJECTED);
  });
});
