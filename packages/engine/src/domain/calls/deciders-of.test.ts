import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ApprovalPolicySchema } from "@reeve/contracts/agent";
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
