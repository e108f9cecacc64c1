import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { TestTemporal, temporalPrograms } from "../support/temporal.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, eventWith, expectCompleted, watchToEnd } from "./support/watching.ts";

const programs = await temporalPrograms();
const skipped = programs.kind === "missing" ? ` (skipped: ${programs.reason})` : "";

/** Does what the last message of the user names, at the agent that can. */
function play({ messages, tools }: Asked): Played {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: `It says: ${last.text}`, inputTokens: 100 };
  const text = last?.text ?? "";
  for (const below of ["agent_run_partner", "agent_run_writer"]) {
    if (tools.includes(below)) {
      return { calls: [{ name: below, args: { prompt: text } }], inputTokens: 1_000 };
    }
  }
  if (text.includes("hang")) return { text: "Thinking", hangs: true };
  const write = { name: "write_file", args: { path: "a.txt", content: "alpha" } };
  return { calls: [write], inputTokens: 10_000 };
}

const registry = `
models:
  - id: priced
    provider: openai
    upstream_name: played
    context_window: 1000000
    max_output_tokens: 1000
    pricing: { input_usd_per_million: 10, output_usd_per_million: 10 }
`;
const model = "priced";
const token = "test-token-0123456789";

describe.skipIf(skipped !== "")(
  `a run on nats whose delegate works elsewhere on Temporal${skipped}`,
  () => {
    let models: PlayingServer;
    let temporal: TestTemporal;
    /** The deployment of the delegate. */
    let partner: Deployment;
    /** The deployment of the caller. */
    let home: Deployment;

    beforeAll(async () => {
      models = await startPlayingServer(play);
      temporal = await TestTemporal.start(programs);
      const settings = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url };
      const files = { REEVE_MODELS: registry };
      partner = await Deployment.start({ ...settings, ...defined(temporal.settings) }, files);
      const remote = `{ name: partner, url: "${partner.url}/a2a/", token_env: PARTNER_TOKEN, allow_addresses: [127.0.0.1] }`;
      home = await Deployment.start(
        { ...settings, PARTNER_TOKEN: token },
        { ...files, REEVE_A2A_REMOTES: `remotes:\n  - ${remote}\n` },
      );
      await partner.agent("writer", { model, hitlTools: ["write_file"] });
      await partner.agent("helper", { model, delegates: ["writer"], a2a: { enabled: true } });
      const endpoint = { url: `${partner.url}/a2a/agents/helper/`, protocol: "a2a" };
      await home.agent("partner", { model: "", endpoint });
      await home.agent("lead", { model, delegates: ["partner"] });
    });

    afterAll(async () => {
      await home[Symbol.asyncDispose]();
      await partner[Symbol.asyncDispose]();
      await temporal[Symbol.asyncDispose]();
      await models[Symbol.asyncDispose]();
    });

    /** Starts a run of the caller, and returns it with the run of the delegate. */
    async function startRuns(input: string) {
      const { run } = await home.reeve.runs.startRun({ agentId: "lead", input, executor: "nats" });
      const runId = run?.runId ?? "";
      const { event } = await eventOf(home, runId, "remoteTask");
      return { runId, remote: event.case === "remoteTask" ? event.value.taskId : "" };
    }

    // Requirement: DUR-7, EVT-3, RES-7
    test("asks at the top for an approval at the bottom, and has one tree and one cost", async () => {
      const { runId, remote } = await startRuns("write");
      const { event: asked } = await eventOf(home, runId, "approval");
      const approval = asked.case === "approval" ? asked.value.approval : undefined;
      expect(approval?.delegateId).toBe("partner");
      await home.reeve.approvals.answerQuestion({
        approvalId: approval?.approvalId ?? "",
        answer: { answer: "approve" },
      });
      const events = await watchToEnd(home, runId);
      expectCompleted(events);
      const below = await watchToEnd(partner, remote);
      expectCompleted(below);

      const [decided] = below.flatMap(({ event }) =>
        event.case === "approval" && event.value.approval?.decision ? [event.value.approval] : [],
      );
      expect(decided).toMatchObject({ delegateId: "writer", decision: { approved: true } });
      const results = below.flatMap(({ event }) =>
        event.case === "toolResult" ? [event.value.result] : [],
      );
      expect(results.map((result) => [result?.name, result?.isError])).toContainEqual([
        "write_file",
        false,
      ]);

      const [call] = events.flatMap(({ event }) =>
        event.case === "toolCall" ? [event.value.callId] : [],
      );
      for (const kind of ["remoteTask", "approval", "usage"] as const) {
        expect(events.some(({ event, parentId }) => event.case === kind && parentId === call)).toBe(
          true,
        );
      }
      const { tree } = await home.reeve.runs.getExecutionTree({ runId });
      const names = tree?.nodes.map(({ name, parentId }) => [name, parentId]);
      expect(names).toEqual([
        ["agent_run_partner", ""],
        ["ask_user", call],
      ]);

      const top = await home.reeve.runs.getRun({ runId });
      const bottom = await partner.reeve.runs.getRun({ runId: remote });
      const own = events.flatMap(({ event, parentId }) =>
        event.case === "usage" && parentId === "" ? [event.value.costUsd ?? NaN] : [],
      );
      const remoteCost = bottom.run?.cost?.costUsd ?? NaN;
      expect(remoteCost).toBeGreaterThan(0.1);
      expect(top.run?.cost?.costUsd).toBeCloseTo(
        own.reduce((sum, each) => sum + each, remoteCost),
        9,
      );
    });

    // Requirement: CAN-3, RES-7
    test("is cancelled from the top to the bottom", async () => {
      const { runId, remote } = await startRuns("hang");
      await eventWith(
        partner,
        remote,
        ({ event, parentId }) => event.case === "text" && parentId !== "",
      );
      expect(models.speaking).toBe(1);
      const startedAt = performance.now();
      await home.reeve.runs.cancelRun({ runId });
      const cancelled = await eventOf(partner, remote, "cancelRequested");
      const ended = await eventWith(partner, remote, isCancelled);
      const tookMs = performance.now() - startedAt;
      expect(ended.sequence).toBeGreaterThan(cancelled.sequence);
      // It takes half a second; the machine may be busy.
      expect(tookMs).toBeLessThan(20_000);
      await expect.poll(() => models.speaking).toBe(0);
      expect((await watchToEnd(home, runId)).at(-1)?.event.value).toMatchObject({
        status: RunStatus.CANCELLED,
      });
    });
  },
);

function isCancelled({ event }: Awaited<ReturnType<typeof eventOf>>): boolean {
  return event.case === "status" && event.value.status === RunStatus.CANCELLED;
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
