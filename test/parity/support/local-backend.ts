import type { RunEvent } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { LocalDecision } from "@reeve/local/decide-approvals";
import { openPlugins } from "@reeve/local/open-plugins";
import { runAgent } from "@reeve/local/run-agent";
import { eventSelection } from "@reeve/gateway/app/event-selection";
import { chatProvider } from "@reeve/models/chat/chat-provider";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "@reeve/toolhost/tools/mcp/mcp-config";
import { McpServer } from "@reeve/toolhost/tools/mcp/mcp-server";
import { mcpTools } from "@reeve/toolhost/tools/mcp/mcp-tools";
import { noSecrets } from "@reeve/toolhost/test/support/no-secrets";
import type { Asked, Played } from "../../support/playing-server.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import type { Backend, People, Scenario } from "./backend.ts";
import { pluginsFile } from "./plugin-scenarios.ts";
import { commonTools, mcpServers, playing, silent } from "./backend.ts";

/** The events that a client sees by default. */
const isShown = eventSelection({ case: undefined });

/** One process with all state in memory. */
export async function localBackend(): Promise<Backend> {
  await using opening = new AsyncDisposableStack();
  let play: (asked: Asked) => Played = silent;
  const models = opening.use(await startPlayingServer((asked) => play(asked)));
  const log = createLogger("test", "silent");
  const servers = Object.entries(mcpServers).map(([name, config]) =>
    opening.use(
      new McpServer(name, mcpServerConfig(config), {
        log,
        identity: sandboxIdentity(1),
        secrets: noSecrets,
        onTools: () => undefined,
      }),
    ),
  );
  await Promise.all(servers.map(({ tried }) => tried));
  const plugins = opening.use(await openPlugins(pluginsFile, new AbortController().signal));
  const providers = [chatProvider({ apiKey: "k", baseUrl: models.url })];
  const resources = opening.move();
  return {
    async run(scenario: Scenario) {
      play = playing(scenario);
      const ending = new AbortController();
      const asked = new Map<string, PromiseWithResolvers<LocalDecision>>();
      const questionOf = (approvalId: string) => {
        const question = asked.get(approvalId) ?? Promise.withResolvers<LocalDecision>();
        asked.set(approvalId, question);
        return question;
      };
      const common = { name: "agent", model: "openai:played", allowedToolPatterns: commonTools };
      const spec = { ...common, ...scenario.spec };
      const agents = (scenario.agents ?? []).map((each) => ({ ...common, ...each }));
      const run = runAgent(spec, "go", {
        agents,
        providers,
        plugins,
        tools: servers.flatMap((server) => mcpTools(server)),
        signal: ending.signal,
        decide: ({ approvalId }) => questionOf(approvalId).promise,
      });
      const people: People = {
        decide: async ({ event }, decision) => {
          const approval = event.case === "approval" ? event.value.approval : undefined;
          questionOf(approval?.approvalId ?? "").resolve({ ...decision, reason: "because" });
        },
        cancel: async () => ending.abort(),
        send: (text) => run.send(text),
      };
      const seen: RunEvent[] = [];
      for await (const event of run.events()) {
        if (!isShown(event)) continue;
        seen.push(event);
        await scenario.act?.(event, people);
      }
      await run.ended;
      return seen;
    },
    async refuse({ spec, input = "go", created: { executor, ...created } = {} }) {
      const signal = AbortSignal.abort();
      const agent = { name: "agent", model: "openai:played", ...spec };
      try {
        runAgent(agent, input, { providers, signal, created, ...(executor && { executor }) });
      } catch (error) {
        return error;
      }
      throw new Error("the run was accepted");
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
