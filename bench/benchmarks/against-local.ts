import { join } from "node:path";
import process from "node:process";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { runAgent } from "@reeve/local/run-agent";
import { chatProvider } from "@reeve/models/chat/chat-provider";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "@reeve/toolhost/tools/mcp/mcp-config";
import { noSecrets } from "@reeve/toolhost/test/support/no-secrets";
import { McpServer } from "@reeve/toolhost/tools/mcp/mcp-server";
import { mcpTools } from "@reeve/toolhost/tools/mcp/mcp-tools";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";
import { createAgent, run, tools } from "../runs.ts";
import { System } from "../system.ts";

const times = 12;
/** Runs in this process are fast and their difference is small, so more of them are measured. */
const timesHere = 40;
const root = join(import.meta.dirname, "../..");
const tool = "mcp__srv__search";

/** The models with few and with many units, the number of additional units, and the tools used. */
const growths = [
  { name: "one more token", few: "text:20", many: "text:1020", by: 1_000, uses: [] },
  { name: "one more tool round", few: "tool-chain:1", many: "tool-chain:21", by: 20, uses: [tool] },
] as const;

/**
 * Measures the cost of durability: the same agent on a deployment and through `runAgent`, which keeps all state in the memory
 * of one process. Each value is the additional time per token or tool round, relative to the fastest short run.
 */
export const againstLocal: Benchmark = {
  name: "against-local",
  maxMs: 120_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    await using system = await System.start({}, signal);
    const command = process.execPath;
    const args = [join(root, "services/toolhost/test/support/progress-server.ts")];
    const log = createLogger("bench", "silent");
    const config = mcpServerConfig({ command, args, sandbox: false });
    const ports = {
      log,
      identity: sandboxIdentity(1),
      secrets: noSecrets,
      onTools: () => undefined,
    };
    await using server = new McpServer("srv", config, ports);
    await server.tried;
    for (const { name, few, many, by, uses } of growths) {
      const durable = async (model: string) => {
        const id = model.replace(":", "-");
        const spec = {
          id,
          model: `openai:${model}`,
          mcpServers: ["srv"],
          allowedTools: tools(...uses),
        };
        await createAgent(system, spec, signal);
        return await durations(times, () => run(system, id, signal));
      };
      const local = async (model: string) => {
        const offered = mcpTools(server).filter(({ descriptor }) =>
          uses.some((used) => used === descriptor?.name),
        );
        return await durations(timesHere, () => runHere(system.modelUrl, model, offered, signal));
      };
      const each = (short: readonly number[], long: readonly number[]) =>
        long.map((duration) => (duration - Math.min(...short)) / by);
      const [long, longHere] = [await durable(many), await local(many)];
      const values = each(await durable(few), long);
      const floors = each(await local(few), longHere);
      yield { name, unit: "ms", values, floors };
    }
    const [short] = growths;
    const values = await durations(times, () => run(system, short.few.replace(":", "-"), signal));
    const floors = await durations(timesHere, () =>
      runHere(system.modelUrl, short.few, [], signal),
    );
    yield { name: `a run of ${short.few}`, unit: "ms", values, floors };
  },
};

async function durations(times: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  await warmUp(times, work);
  return await timesOf(times, work);
}

/** Runs the same agent in this process, to its end. */
async function runHere(
  baseUrl: string,
  model: string,
  offered: readonly Tool[],
  signal: AbortSignal,
): Promise<void> {
  const allowedTools = tools(...offered.map(({ descriptor }) => descriptor.name));
  const spec = {
    id: "local",
    name: "local",
    model: `openai:${model}`,
    maxRounds: 200,
    allowedTools,
    budgets: { maxLlmCalls: 200 },
  };
  const providers = [chatProvider({ apiKey: "none", baseUrl })];
  const local = runAgent(spec, "go", { providers, tools: offered, signal });
  for await (const event of local.events()) {
    if (event.event.case === "toolResult" && !event.event.value.success) {
      throw new Error(`a call in this process failed: ${event.event.value.error}`);
    }
  }
  await local.ended;
}
