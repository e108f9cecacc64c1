import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { startEmbedded } from "@reeve/cli/embedded";
import { openConnection } from "@reeve/client";
import { A2aExposureSchema, AgentSpecSchema } from "@reeve/contracts/agent";
import type { Run, RunEvent } from "@reeve/contracts/run";
import type { LocalDecision } from "@reeve/local/decide-approvals";
import { runAgent } from "@reeve/local/run-agent";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { OpenedRemoteAgents } from "@reeve/runtime/remote-agents";
import { openRemoteAgents } from "@reeve/runtime/remote-agents";
import type { Asked, Played } from "../../support/playing-server.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import type { Decided, People, Scenario } from "./backend.ts";
import { commonTools, mcpServers, playing, silent } from "./backend.ts";
import { pluginsFile } from "./plugin-scenarios.ts";

/** How the deployment is called. */
export type Binding = "JSONRPC" | "GRPC";

/** A run that another deployment executed through A2A. */
export interface RemoteRun {
  /** The events of the caller's run. */
  readonly events: readonly RunEvent[];
  /** The caller's run after its end. */
  readonly here: Run;
  /** The run of the other deployment: the events that its clients see, and its answer. */
  readonly there: { readonly events: readonly RunEvent[]; readonly output: string };
}

/** A deployment that offers agents through A2A, and this process, which calls them. */
export interface A2aBackend extends AsyncDisposable {
  /** Executes a scenario at the deployment over a binding, and returns what the caller and the deployment recorded. Default: JSONRPC. */
  run(scenario: Scenario, binding?: Binding): Promise<RemoteRun>;
  /** Tries to start a run of an agent elsewhere, and returns the error with which it is refused. */
  refuse(spec: object, created: object): unknown;
}

const never = new AbortController().signal;

export async function a2aBackend(): Promise<A2aBackend> {
  await using opening = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-parity-a2a-"));
  opening.defer(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ servers: mcpServers }));
  let play: (asked: Asked) => Played = silent;
  const models = opening.use(await startPlayingServer((asked) => play(asked)));
  const settings = {
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    REEVE_MCP_CONFIG: join(folder, "mcp.json"),
    REEVE_PLUGINS: pluginsFile,
    REEVE_SANDBOX: "bubblewrap",
  };
  const log = createLogger("test", "silent");
  const listen = "127.0.0.1:0";
  const options = { listen, dataDir: join(folder, "data"), settings, log };
  const embedded = opening.use(await startEmbedded(options, never));
  await embedded.offersAll;
  const reeve = opening.use(openConnection({ address: embedded.url, token: embedded.token }));
  const openCaller = async (binding: Binding): Promise<OpenedRemoteAgents> => {
    const file = join(folder, `${binding}.yaml`);
    const entry = `{ name: there, url: "${embedded.url}/a2a/", grpc: ["${embedded.url}"], binding: ${binding}, token_env: THERE, allow_addresses: [127.0.0.1] }`;
    writeFileSync(file, `remotes:\n  - ${entry}\n`);
    const opened = await openRemoteAgents(file, { THERE: embedded.token }, never);
    if (opened === undefined) throw new Error("no agents may be called");
    return opening.use(opened);
  };
  const callers = { JSONRPC: await openCaller("JSONRPC"), GRPC: await openCaller("GRPC") };
  const resources = opening.move();
  let agents = 0;

  /** Follows a run of the deployment to its end. */
  async function follow(runId: string, seen: (event: RunEvent) => Promise<void>) {
    const events: RunEvent[] = [];
    for await (const batch of reeve.runs.watchRun({ runId })) {
      events.push(...batch.events);
      for (const event of batch.events) await seen(event);
    }
    const { run } = await reeve.runs.getRun({ runId });
    return { events, output: run?.output ?? "" };
  }

  async function onlyRunOf(agentId: string): Promise<string> {
    const { runs } = await reeve.runs.listRuns({ filter: { agentId } });
    return runs[0]?.runId ?? "";
  }

  return {
    async run(scenario, binding = "JSONRPC") {
      play = playing(scenario);
      const id = `agent-${++agents}`;
      const common = { id, name: id, model: "openai:played", allowedToolPatterns: commonTools };
      for (const each of scenario.agents ?? []) {
        await reeve.agents.createAgent({ spec: create(AgentSpecSchema, { ...common, ...each }) });
      }
      const spec = create(AgentSpecSchema, { ...common, ...scenario.spec });
      await reeve.agents.createAgent({
        spec: { ...spec, a2a: create(A2aExposureSchema, { enabled: true }) },
      });
      const ending = new AbortController();
      const asked = new Map<string, PromiseWithResolvers<LocalDecision>>();
      const questionOf = (approvalId: string) => {
        const question = asked.get(approvalId) ?? Promise.withResolvers<LocalDecision>();
        asked.set(approvalId, question);
        return question;
      };
      const endpoint = { url: `${embedded.url}/a2a/agents/${id}`, protocol: "a2a" };
      const run = runAgent({ id, name: id, endpoint }, "go", {
        providers: [],
        remoteAgents: callers[binding],
        signal: ending.signal,
        decide: ({ approvalId }) => questionOf(approvalId).promise,
      });
      const people: People = {
        decide: async (event, decision) => {
          const { approvalId = "", call } = approvalIn(event) ?? {};
          const isApproval = JSON.stringify(call?.arguments).includes(`"reject"`);
          questionOf(approvalId).resolve(isApproval ? verdict(decision) : decision);
        },
        cancel: async () => ending.abort(),
        send: (text) => run.send(text),
      };
      const events: RunEvent[] = [];
      let following: Promise<RemoteRun["there"]> | undefined;
      for await (const event of run.events()) {
        events.push(event);
        // People answer the caller, and see everything else where the agent works.
        if (event.event.case === "approval") await scenario.act?.(event, people);
        if (event.event.case !== "remoteTask") continue;
        following ??= follow(event.event.value.taskId, async (seen) => {
          if (seen.event.case !== "approval") await scenario.act?.(seen, people);
        });
      }
      const here = await run.ended;
      following ??= follow(await onlyRunOf(id), async () => undefined);
      return { events, here, there: await following };
    },
    refuse(spec, created) {
      const agent = { id: "far", name: "far", endpoint: { url: embedded.url }, ...spec };
      try {
        runAgent(agent, "go", {
          providers: [],
          remoteAgents: callers.JSONRPC,
          signal: never,
          created,
        });
      } catch (error) {
        return error;
      }
      throw new Error("the run was accepted");
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The approval of a call elsewhere is a question with two choices. */
function verdict({ approved }: Decided): LocalDecision {
  return { approved: true, answer: { answer: approved ? "approve" : "reject" } };
}

function approvalIn({ event }: RunEvent) {
  return event.case === "approval" ? event.value.approval : undefined;
}
