import { RunStatus } from "@reeve/contracts/run";
import { expect, test, vi } from "vitest";
import type { PlayingServer } from "../../support/playing-server.ts";
import type { Deployment } from "../support/deployment.ts";
import { watchToEnd } from "../support/watching.ts";

/** Tests agents at endpoints: `far` and `lost` are some, and `lead` calls `far`. They are agents of the same deployment. */
export function describeRemoteAgents(
  deployment: () => Deployment,
  models: () => Pick<PlayingServer, "speaking">,
): void {
  // Requirement: RES-3, RES-7, CAN-3
  test("works as a run of its own, and continues its conversation in the next run of the thread", async () => {
    const first = await start(deployment(), "far", "hello");
    await watchToEnd(deployment(), first);
    const { run } = await deployment().reeve.runs.getRun({ runId: first });
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, output: "You said: hello" });
    const second = await start(deployment(), "far", "again");
    await watchToEnd(deployment(), second);
    const next = await deployment().reeve.runs.getRun({ runId: second });
    expect(next.run?.output).toBe("You said: hello / You said: hello / again");
  });

  // Requirement: RES-3, RES-7, CAN-3
  test("works as a delegate, whose question and approval people answer in the run of the caller", async () => {
    for (const [input, answer, expected] of [
      ["delegate ask", "green", /^It says: It says: .*green/],
      ["delegate write", "approve", /^It says: It says: /],
    ] as const) {
      const runId = await start(deployment(), "lead", input);
      const approval = await pendingOf(deployment(), runId);
      expect(approval.delegateId).toBe("far");
      await deployment().reeve.approvals.answerQuestion({
        approvalId: approval.approvalId,
        answer: { answer },
      });
      const events = await watchToEnd(deployment(), runId);
      const { run } = await deployment().reeve.runs.getRun({ runId });
      expect(run?.output).toMatch(expected);
      expect(events.some(({ event }) => event.case === "subtask")).toBe(true);
    }
  });

  // Requirement: RES-7
  test("charges the caller what a task has used that failed", async () => {
    const runId = await start(deployment(), "far-short", "todo");
    await watchToEnd(deployment(), runId);
    const { run } = await deployment().reeve.runs.getRun({ runId });
    const { runs } = await deployment().reeve.runs.listRuns({ filter: { agentId: "short" } });
    const [there] = runs;
    expect([run?.status, there?.status]).toEqual([RunStatus.ERROR, RunStatus.ERROR]);
    const { inputTokens, outputTokens } = there?.cost ?? {};
    expect(inputTokens).toBeGreaterThan(0);
    expect(run?.cost).toMatchObject({ inputTokens, outputTokens });
  });

  // Requirement: RES-3, RES-7, CAN-3
  test("is canceled with the run of the caller", async () => {
    const runId = await start(deployment(), "lead", "delegate hang");
    const remoteRun = async () => {
      const filter = { agentId: "helper", statuses: [RunStatus.STARTING, RunStatus.RUNNING] };
      const { runs } = await deployment().reeve.runs.listRuns({ filter });
      return runs.find(isRemote)?.runId;
    };
    const remote = await vi.waitUntil(remoteRun, { timeout: 20_000 });
    await vi.waitUntil(() => models().speaking > 0, { timeout: 20_000 });
    await deployment().reeve.runs.cancelRun({ runId });
    await watchToEnd(deployment(), remote);
    const { run } = await deployment().reeve.runs.getRun({ runId: remote });
    expect(run?.status).toBe(RunStatus.CANCELLED);
  });

  // Requirement: RES-3
  test("gets the files of a message, and its files are artifacts of the run", async () => {
    const { runs, artifacts } = deployment().reeve;
    const runId = await start(deployment(), "far", "draw");
    await watchToEnd(deployment(), runId);
    const stored = await artifacts.listArtifacts({ runId });
    expect(stored.artifacts.map(({ mediaType }) => mediaType)).toEqual(["image/png"]);
    const { run } = await runs.getRun({ runId });
    expect(run?.output).toContain(stored.artifacts[0]?.artifactId);
    const value = { artifactId: stored.artifacts[0]?.artifactId ?? "" };
    const part = { part: { case: "file" as const, value } };
    const sent = await runs.startRun({ agentId: "far", input: "Look.", parts: [part] });
    await watchToEnd(deployment(), sent.run?.runId ?? "");
    const { run: refused } = await runs.getRun({ runId: sent.run?.runId ?? "" });
    // The model over there reads text only.
    expect(refused?.error?.message).toMatch(/image\/png.*openai:played/);
  });

  // Requirement: RES-3, RES-7, CAN-3
  test("that does not exist there ends its run with the reason", async () => {
    const runId = await start(deployment(), "lost", "hello");
    await watchToEnd(deployment(), runId);
    const { run } = await deployment().reeve.runs.getRun({ runId });
    expect(run?.status).toBe(RunStatus.ERROR);
    expect(run?.error?.message).toContain("agent card");
  });
}

async function start({ reeve }: Deployment, agentId: string, input: string): Promise<string> {
  const { run } = await reeve.runs.startRun({ agentId, input, threadId: `of-${agentId}` });
  return run?.runId ?? "";
}

const isRemote = ({ labels }: { labels: Record<string, string> }) => "a2a.message_id" in labels;

/** Waits until a run asks people, and returns what. */
async function pendingOf({ reeve }: Deployment, runId: string) {
  return await vi.waitUntil(
    async () => (await reeve.approvals.listApprovals({ runId })).approvals[0],
    { timeout: 20_000 },
  );
}
