import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { openConnection } from "@reeve/client";
import type { Environment } from "@reeve/platform/config";
import { startEmbedded } from "@reeve/cli/embedded";
import type { Asked, Played } from "../../support/playing-server.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import type { Backend, People, Scenario } from "./backend.ts";
import { pluginsFile } from "./plugin-scenarios.ts";
import { commonTools, mcpServers, playing, silent } from "./backend.ts";

/** The four services over JetStream, called over gRPC. `executor`: the settings of another executor than `nats`. */
export async function natsBackend(executor: Environment = {}): Promise<Backend> {
  await using opening = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-parity-"));
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
    ...executor,
  };
  const log = createLogger("test", "silent");
  const embedded = opening.use(
    await startEmbedded(
      { listen: "127.0.0.1:0", dataDir: join(folder, "data"), settings, log },
      new AbortController().signal,
    ),
  );
  await embedded.offersAll;
  const reeve = opening.use(openConnection({ address: embedded.url, token: embedded.token }));
  const resources = opening.move();
  let agents = 0;
  return {
    async run(scenario: Scenario) {
      play = playing(scenario);
      const id = `agent-${++agents}`;
      const common = { id, name: id, model: "openai:played", allowedToolPatterns: commonTools };
      for (const each of scenario.agents ?? []) {
        await reeve.agents.createAgent({ spec: create(AgentSpecSchema, { ...common, ...each }) });
      }
      const spec = { ...common, ...scenario.spec };
      await reeve.agents.createAgent({ spec: create(AgentSpecSchema, spec) });
      const { run } = await reeve.runs.startRun({ agentId: id, input: "go" });
      const runId = run?.runId ?? "";
      const people: People = {
        decide: async ({ event }, decision) => {
          const approval = event.case === "approval" ? event.value.approval : undefined;
          const approvalId = approval?.approvalId ?? "";
          await reeve.approvals.decideApproval({ approvalId, ...decision, reason: "because" });
        },
        cancel: async () => void (await reeve.runs.cancelRun({ runId })),
        send: async (text) => void (await reeve.runs.sendMessage({ runId, text })),
      };
      const seen: RunEvent[] = [];
      for await (const { events } of reeve.runs.watchRun({ runId })) {
        seen.push(...events);
        for (const event of events) await scenario.act?.(event, people);
      }
      return seen;
    },
    async refuse({ spec, input = "go", created }) {
      const id = `agent-${++agents}`;
      try {
        const agent = create(AgentSpecSchema, { id, name: id, model: "openai:played", ...spec });
        await reeve.agents.createAgent({ spec: agent });
        await reeve.runs.startRun({ ...created, agentId: id, input });
      } catch (error) {
        return error;
      }
      throw new Error("the run was accepted");
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
