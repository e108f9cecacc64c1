import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import type { ApprovalPolicySchema } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import { DecisionSchema } from "@reeve/contracts/approval";
import { castVote } from "@reeve/run/approvals/votes/count-vote";
import { appendExternal } from "@reeve/run/commands/append-external";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { ModelPart, ModelProvider } from "../../src/ports/model-provider.ts";
import { callingModel } from "./models.ts";
import { key, WorkerBench } from "./worker-bench.ts";

export type ReviewPolicy = Exclude<
  MessageInitShape<typeof ApprovalPolicySchema>,
  { readonly $typeName: string }
>;

const never = new AbortController().signal;
export const rubric = "Does it count too far?";
const usage = {
  inputTokens: 10,
  outputTokens: 7,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};

interface RunOptions {
  /** The operator's policy. Default: there is none. */
  readonly operators?: string;
  readonly args?: object;
  /** The tools for which a rule of the agent asks. Default: the agent names `count` in `hitl_tools`, and has no rules. */
  readonly own?: readonly string[];
  /** The operator's policy from the review on. Default: it does not change. */
  readonly meanwhile?: string;
}

/** A vote of two people of the group `ops`. */
export const two = { name: "two", groups: ["ops"], approvals: 2, denials: 1 };

/** Creates a run that calls `count`, of class `safe`, and whose reviewer gives this advice. */
export async function reviewedRun(
  advice: string,
  more: ReviewPolicy = {},
  votes: object = { classes: ["safe"] },
  { operators, args = { to: 9 }, own, meanwhile }: RunOptions = {},
): Promise<WorkerBench> {
  const calling = callingModel([["count", JSON.stringify(args)]], () => undefined);
  const provider: ModelProvider = {
    ...calling,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      if (!request.instructions.includes(rubric)) {
        yield* calling.stream(request, signal);
        return;
      }
      if (meanwhile !== undefined) bench.policy = parsePolicyFile(meanwhile, "policy.yaml");
      yield { kind: "text", text: JSON.stringify({ advice, reason: "It counts to 9." }) };
      const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "judge" };
      yield { kind: "turn", turn };
    },
  };
  const approvalPolicy = { reviewer: { rubric, votes }, ...more };
  const bench: WorkerBench = new WorkerBench(provider);
  const rules = own?.map((tool) => ({ tool, behavior: "ask" }));
  const section = fromJson(ValueSchema, { default_behavior: "allow", rules: rules ?? [] });
  const spec =
    rules === undefined
      ? { hitlTools: ["count"], approvalPolicy }
      : { sections: { permission: section }, approvalPolicy };
  await bench.create(spec, { startedBy: "ann", hasPolicy: operators !== undefined });
  if (operators !== undefined) bench.policy = parsePolicyFile(operators, "policy.yaml");
  return bench;
}

/** Returns the approval of the call of a run. */
export async function approvalIn(bench: WorkerBench): Promise<Approval | undefined> {
  return approvalsOf(foldHead(emptyHead, await bench.events()))[0];
}

/** Approves the call of a run as a person. */
export async function voteAs(bench: WorkerBench, decidedBy: string): Promise<void> {
  const decision = create(DecisionSchema, { approved: true, decidedBy });
  await appendExternal(
    bench,
    key,
    (head) =>
      approvalsOf(head).map((each) => ({
        case: "approval" as const,
        value: { approval: castVote(each, decision, () => true) },
      })),
    never,
  );
}
