import { join } from "node:path";
import process from "node:process";
import type { RunEvent } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/logger";
import type { LocalDecision } from "../../../local/src/decide-approvals.ts";
import { runAgent } from "../../../local/src/run-agent.ts";
import { eventSelection } from "../../../services/gateway/src/app/event-selection.ts";
import { chatProvider } from "../../../services/runtime/src/adapters/models/chat/chat-provider.ts";
import { sandboxIdentity } from "../../../services/toolhost/src/adapters/bubblewrap/identity.ts";
import { mcpServerConfig } from "../../../services/toolhost/src/adapters/mcp/mcp-config.ts";
import { McpServer } from "../../../services/toolhost/src/adapters/mcp/mcp-server.ts";
import { mcpTools } from "../../../services/toolhost/src/adapters/mcp/mcp-tools.ts";
import type { Asked, Played } from "../../support/playing-server.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import type { Backend, People, Scenario } from "./backend.ts";
import { commonTools, playing, silent } from "./backend.ts";

const root = join(import.meta.dirname, "../../..");

/** What a client of a deployment sees when it asks for nothing in particular. */
const isShown = eventSelection({ case: undefined });

/** One process, everything in memory. */
export async function localBackend(): Promise<Backend> {
  await using opening = new AsyncDisposableStack();
  let play: (asked: Asked) => Played = silent;
  const models = opening.use(await startPlayingServer((asked) => play(asked)));
  const mcp = join(root, "services/toolhost/test/support/progress-server.ts");
  const log = createLogger("test", "silent");
  const server = opening.use(
    new McpServer(
      "srv",
      mcpServerConfig({ command: process.execPath, args: [mcp], sandbox: false }),
      { log, identity: sandboxIdentity(1), onTools: () => undefined },
    ),
  );
  await server.tried;
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
      const run = runAgent(spec, "go", {
        providers,
        tools: mcpTools(server),
        signal: ending.signal,
        decide: ({ approvalId }) => questionOf(approvalId).promise,
      });
      const people: People = {
        decide: async ({ event }, approved) => {
          const approval = event.case === "approval" ? event.value.approval : undefined;
          questionOf(approval?.approvalId ?? "").resolve({ approved, reason: "because" });
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
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
