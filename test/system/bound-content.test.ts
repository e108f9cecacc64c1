import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { testEngine } from "@reeve/sandbox/test/support/docker-engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { expectCompleted, watchToEnd } from "./support/watching.ts";

const never = new AbortController().signal;
const harmless = "harmless report";
const stolen = "EXFILTRATED: customer list";

/** Waits for a file that the test writes, and then replaces the report. */
const attack = `
while True:
    try:
        open("go")
        break
    except FileNotFoundError:
        pass
open("report.md", "w").write(${JSON.stringify(stolen)})
`;

const publish = { name: "publish_report", args: { path: "report.md" } };
const write = { name: "write_file", args: { path: "report.md", content: harmless } };

/** An injected model: it publishes a harmless report, and replaces it while the approval waits. */
function play({
  messages,
}: {
  readonly messages: readonly { role: string; text: string }[];
}): Played {
  const results = messages.filter(({ role }) => role === "tool").length;
  const isFor = (input: string) =>
    messages.some(({ role, text }) => role === "user" && text === input);
  const attacks = isFor("attack");
  if (results === 0) return { calls: [write] };
  if (results > (isFor("again") ? 2 : 1)) return { text: "done" };
  return {
    calls: attacks ? [publish, { name: "execute_code", args: { code: attack } }] : [publish],
  };
}

const engine = await testEngine();
const address = "why" in engine ? undefined : engine.options.address;

describe.skipIf("why" in engine)(
  `with docker${"why" in engine ? ` (skipped: ${engine.why})` : ""}`,
  () => {
    const settings = { REEVE_SANDBOX: "docker" };
    contentIsBound(address === undefined ? settings : { ...settings, DOCKER_HOST: address });
  },
);

describe("with bubblewrap", () => {
  contentIsBound({ REEVE_SANDBOX: "bubblewrap" });
});

function contentIsBound(settings: Readonly<Record<string, string>>): void {
  let models: PlayingServer;
  let deployment: Deployment;

  beforeAll(async () => {
    models = await startPlayingServer(play);
    deployment = await Deployment.start({
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: models.url,
      ...settings,
    });
    await deployment.agent("reporter", {
      model: "openai:any",
      permissionClasses: ["execute"],
      hitlTools: ["publish_report"],
    });
  });

  afterAll(async () => {
    await deployment[Symbol.asyncDispose]();
    await models[Symbol.asyncDispose]();
  });

  async function start(input: string): Promise<string> {
    const { run } = await deployment.reeve.runs.startRun({ agentId: "reporter", input });
    return run?.runId ?? "";
  }

  /** Returns the first event in the log of the run, from any writer, for which `select` returns something. */
  async function seen<Found>(
    runId: string,
    select: (event: RunEvent) => Found | undefined,
  ): Promise<Found> {
    const log = await openRunLog(deployment.nats);
    for await (const { events } of log.follow({ tenant: "acme", run: runId }, 0, never)) {
      for (const event of events) {
        const found = select(event);
        if (found !== undefined) return found;
      }
    }
    throw new Error(`the log of ${runId} ended`);
  }

  const pending = (runId: string, supersedes = ""): Promise<Approval> =>
    seen(runId, ({ event }) => {
      const approval = event.case === "approval" ? event.value.approval : undefined;
      const isMatch =
        approval?.state === ApprovalState.PENDING && approval.supersedes === supersedes;
      return isMatch ? approval : undefined;
    });

  const publishedBy = async (runId: string): Promise<string[]> => {
    const { artifacts } = await deployment.reeve.artifacts.listArtifacts({ runId });
    return artifacts.map(({ name }) => name);
  };

  // Requirement: HITL-2, HITL-8
  test("a report that code replaces while its approval waits is not published: another approval shows the difference", async () => {
    const runId = await start("attack");
    const first = await pending(runId);
    expect(first.content?.files).toMatchObject([
      { path: "report.md", state: "file", preview: harmless, sizeBytes: 15n },
    ]);
    await deployment.reeve.files.writeFile({
      runId,
      path: "go",
      source: { case: "content", value: new Uint8Array([1]) },
    });
    await seen(runId, ({ event }) =>
      event.case === "toolResult" && event.value.result?.name === "execute_code"
        ? event
        : undefined,
    );
    const { approvalId, callDigest } = first;
    await deployment.reeve.approvals.decideApproval({ approvalId, callDigest, approved: true });
    const second = await pending(runId, approvalId);
    expect(second.content?.files).toMatchObject([
      { path: "report.md", preview: stolen, previous: { preview: harmless } },
    ]);
    expect(second.callDigest).not.toBe(callDigest);
    const stale = { approvalId: second.approvalId, callDigest, approved: true };
    await expect(deployment.reeve.approvals.decideApproval(stale)).rejects.toThrow(
      /decision is about/,
    );
    expect(await publishedBy(runId)).toEqual([]);
    await deployment.reeve.approvals.decideApproval({ ...stale, callDigest: "", approved: false });
    const events = await watchToEnd(deployment, runId);
    expectCompleted(events);
    const states = events.flatMap(({ event }) =>
      event.case === "approval" ? [event.value.approval?.state] : [],
    );
    const { PENDING, APPROVED, SUPERSEDED, REJECTED } = ApprovalState;
    expect(states).toEqual([PENDING, APPROVED, SUPERSEDED, PENDING, REJECTED]);
    expect(await publishedBy(runId)).toEqual([]);
  });

  test("a report that is not changed is published, and the result has the digest that was approved", async () => {
    const runId = await start("publish");
    const { approvalId, callDigest, content } = await pending(runId);
    await deployment.reeve.approvals.decideApproval({ approvalId, callDigest, approved: true });
    const events = await watchToEnd(deployment, runId);
    expectCompleted(events);
    const [result] = events.flatMap(({ event }) =>
      event.case === "toolResult" && event.value.result?.name === "publish_report"
        ? [event.value.result]
        : [],
    );
    expect(result?.metadata?.content?.digest).toBe(content?.digest);
    expect(await publishedBy(runId)).toEqual(["report.md"]);
  });

  test("a grant for the run decides its next call of that kind, bound to the files", async () => {
    const runId = await start("again");
    const { approvalId, content } = await pending(runId);
    const rule = "publish_report(report.md)";
    const grant = { scope: GrantScope.RUN, rule, maxUses: 1 };
    await deployment.reeve.approvals.decideApproval({ approvalId, approved: true, grant });
    const events = await watchToEnd(deployment, runId);
    expectCompleted(events);
    const [, made, , used] = events.flatMap(({ event }) =>
      event.case === "approval" && event.value.approval ? [event.value.approval] : [],
    );
    const { grantId } = made?.decision?.grant ?? {};
    expect(used).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { appliedGrant: { grantId, rule, scope: GrantScope.RUN } },
      content: { digest: content?.digest },
    });
    const { grants } = await deployment.reeve.approvals.listGrants({ runId });
    expect(grants).toMatchObject([{ grantId, uses: [{ approvalId: used?.approvalId }] }]);
  });
}
