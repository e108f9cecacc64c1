import { create } from "@bufbuild/protobuf";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { expect, test } from "vitest";
import type { Deployment } from "../support/deployment.ts";
import { eventOf, expectCompleted, watchToEnd } from "../support/watching.ts";

/** The tokens of two people with all roles, beside `tester`. */
interface Tokens {
  readonly eve: string;
  readonly gus: string;
}

/** Starts a run as a person. Returns the approval that its first call waits for. */
async function waitingFor(deployment: Deployment, { runs }: Connection, agentId: string) {
  const { run } = await runs.startRun({ agentId, input: "go" });
  const { event } = await eventOf(deployment, run?.runId ?? "", "approval");
  const approval = event.case === "approval" ? event.value.approval : undefined;
  if (approval === undefined) throw new Error(`a run of ${agentId} has no approval`);
  return approval;
}

type Decided = Parameters<Connection["approvals"]["decideApproval"]>[0];

const refusalOf = ({ approvals }: Connection, decided: Decided) =>
  approvals.decideApproval(decided).then(() => undefined, failureFrom);

const denied = (message: string) => ({
  kind: "denied",
  message: expect.stringContaining(message) as string,
});

/** Who decides by the agent that somebody saved, the person who started the run, and the arguments of the call. */
export function describeDeciders(deployment: () => Deployment, tokens: Tokens): void {
  const as = (person: keyof Tokens) =>
    openConnection({ address: deployment().url, token: tokens[person] });

  test("neither the person who saved the agent nor the one who started the run decides its call", async () => {
    using eve = as("eve");
    using gus = as("gus");
    const { reeve: tester } = deployment();
    const approvalPolicy = { excludeAuthor: true, excludeRequester: true };
    const todo = { model: "scripted:todo", hitlTools: ["add_todo"], approvalPolicy };
    await deployment().agent("guarded", todo);
    const { approvalId, runId, excludedSubjects } = await waitingFor(deployment(), gus, "guarded");
    expect(excludedSubjects.toSorted()).toEqual(["gus", "tester"]);
    const approved = { approvalId, approved: true };
    expect(await refusalOf(tester, approved)).toMatchObject(denied("saved the agent"));
    expect(await refusalOf(gus, approved)).toMatchObject(denied("gus started the run"));
    expect(await refusalOf(eve, approved)).toBeUndefined();
    expectCompleted(await watchToEnd(deployment(), runId));

    // The author is the person who saved the revision that runs.
    const spec = create(AgentSpecSchema, { id: "guarded", name: "guarded", ...todo });
    await eve.agents.updateAgent({ spec });
    const later = await waitingFor(deployment(), gus, "guarded");
    const decision = { approvalId: later.approvalId, approved: true };
    expect(await refusalOf(eve, decision)).toMatchObject(denied("saved the agent"));
    expect(await refusalOf(tester, decision)).toBeUndefined();
    expectCompleted(await watchToEnd(deployment(), later.runId));
  });

  test("a person approves only arguments to which an alternative with the person applies", async () => {
    using eve = as("eve");
    using gus = as("gus");
    const ofGus = 'tool == "add_todo" && requester.subject == "gus"';
    await deployment().agent("filtered", {
      model: "scripted:todo",
      hitlTools: ["add_todo"],
      approvalPolicy: {
        allowEditedArguments: true,
        alternatives: [
          { name: "short", filter: `${ofGus} && size(arguments.text) < 20`, people: ["eve"] },
          { name: "long", filter: `${ofGus} && size(arguments.text) >= 20`, people: ["tester"] },
        ],
      },
    });
    const { approvalId, runId, alternatives } = await waitingFor(deployment(), gus, "filtered");
    expect(alternatives.map(({ name }) => name)).toEqual(["short"]);
    expect(await refusalOf(deployment().reeve, { approvalId, approved: true })).toMatchObject({
      kind: "denied",
    });
    const edited = (text: string) => ({ approvalId, approved: true, editedArguments: { text } });
    expect(await refusalOf(eve, edited("call ann, and everybody else"))).toMatchObject({
      kind: "precondition",
      violations: [{ field: "edited_arguments", reason: "NOT_APPLICABLE" }],
    });
    expect(await refusalOf(eve, edited("call bob"))).toBeUndefined();
    const events = await watchToEnd(deployment(), runId);
    expectCompleted(events);
    const decided = events.findLast(({ event }) => event.case === "approval");
    expect(decided?.event.value).toMatchObject({
      approval: { state: ApprovalState.APPROVED, votes: [{ countsFor: ["short"] }] },
    });

    // Neither applies to a call for another person: nobody could approve it, so no approval is requested.
    const { run } = await eve.runs.startRun({ agentId: "filtered", input: "go" });
    const refused = await watchToEnd(deployment(), run?.runId ?? "");
    expectCompleted(refused);
    expect(refused.filter(({ event }) => event.case === "approval")).toEqual([]);
    const [result] = refused.filter(({ event }) => event.case === "toolResult");
    expect(result?.event.value).toMatchObject({
      error: expect.stringContaining("no alternative of approval_policy applies") as string,
    });
  });
}
