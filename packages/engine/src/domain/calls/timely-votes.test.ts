import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApprovalSchema,
  ApprovalState,
  DecisionSchema,
  VoteSchema,
} from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";

type Decision = Exclude<MessageInitShape<typeof DecisionSchema>, { readonly $typeName: string }>;

const policy = {
  alternatives: [{ name: "two", groups: ["ops"], approvals: 2 }],
  waits: [{ wait: { seconds: 60n } }],
  allowEditedArguments: true,
};

/** A run whose call these votes approved, the last of which decides. Returns what the call did. */
function approvedBy(...votes: readonly (readonly [second: number, more: Decision])[]) {
  const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy: policy });
  run.turn({ name: "search" });
  const approval = run.all("approval")[0]?.approval;
  if (approval?.requestedAt === undefined) throw new Error("no approval was requested");
  const requestedMs = Number(approval.requestedAt.seconds) * 1_000;
  const cast = votes.map(([second, more], index) =>
    create(DecisionSchema, {
      approved: true,
      decidedBy: `person-${index}`,
      decidedAt: timestampFromMs(requestedMs + second * 1_000),
      ...more,
    }),
  );
  const decision = cast.at(-1);
  const whole = create(ApprovalSchema, {
    ...approval,
    revision: votes.length,
    state: ApprovalState.APPROVED,
    alternatives: approval.alternatives.map((each) => ({ ...each, approvalsGiven: 2 })),
    votes: cast.map((decided) =>
      create(VoteSchema, { decision: decided, countsFor: ["two"], attempts: 1 }),
    ),
    ...(decision && { decision }),
  });
  run.write({ case: "approval", value: { approval: whole } });
  run.append([]);
  return run.all("toolCallStarted").length === 1 ? "started" : run.all("toolResult").at(-1);
}

const other = { editedArguments: { q: "other" } };
const refused = { result: { content: expect.stringContaining("without the votes") } };

test("votes before the end of a wait do not count, and take nothing from those after it", () => {
  expect(approvedBy([61, {}], [62, {}])).toBe("started");
  expect(approvedBy([10, {}], [62, {}])).toMatchObject(refused);
  expect(approvedBy([10, other], [61, {}], [62, {}])).toBe("started");
  expect(approvedBy([61, other], [62, {}])).toMatchObject(refused);
});
