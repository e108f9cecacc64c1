import { createRequire } from "node:module";
import { join } from "node:path";
import type { Benchmark, Figure } from "../../figure.ts";
import { timesOf, warmUp } from "../../measure.ts";
import { createAgent, run, tools } from "../../runs.ts";
import { System } from "../../system.ts";
import { TestTemporal, temporalPrograms } from "@reeve/test/support/temporal";

const times = 20;
const models = ["text:20", "tool-once", "tool-chain:10"];
const calls = [10, 100, 1_000];
const tool = "mcp__srv__search";

/** The part of the client of Temporal that is used here. */
interface Client {
  readonly workflow: {
    getHandle(workflowId: string): {
      result(): Promise<unknown>;
      fetchHistory(): Promise<{ readonly events: readonly object[] }>;
    };
  };
}

/**
 * Whole runs, one at a time, with Temporal as the executor; the floor is the same deployment without it. Then the length of the
 * history of a workflow, by the number of tool calls of its run. Needs REEVE_TEMPORAL=1.
 */
export const temporal: Benchmark = {
  name: "temporal",
  maxMs: 400_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const programs = await temporalPrograms();
    await using server = await TestTemporal.start(programs);
    const settings = Object.fromEntries(
      Object.entries(server.settings).map(([name, value]) => [name, value ?? ""]),
    );
    await using carried = await System.start({ settings }, signal);
    await using plain = await System.start({ modelUrl: carried.modelUrl }, signal);
    for (const model of models) {
      const spec = specOf(model);
      const measured = async (system: System) => {
        await createAgent(system, spec, signal);
        const work = () => run(system, spec.id, signal);
        await warmUp(times / 2, work);
        return await timesOf(times, work);
      };
      const [values, floors] = [await measured(carried), await measured(plain)];
      yield { name: `${model} on Temporal, one at a time`, unit: "ms", values, floors };
    }
    const sdk = settings["REEVE_TEMPORAL_SDK"] ?? "";
    const { Client: TemporalClient, Connection } = createRequire(join(sdk, "package.json"))(
      "@temporalio/client",
    );
    const connection = await Connection.connect({ address: settings["REEVE_TEMPORAL_ADDRESS"] });
    try {
      const client: Client = new TemporalClient({ connection });
      for (const count of calls) {
        const most = count + 10;
        const limits = { maxRounds: most, budgets: { maxLlmCalls: most, maxToolCalls: most } };
        const spec = { ...specOf(`tool-chain:${count}`), ...limits, id: `history-${count}` };
        await createAgent(carried, spec, signal);
        const { runId } = await run(carried, spec.id, signal);
        const workflow = client.workflow.getHandle(runId);
        await workflow.result();
        const { events } = await workflow.fetchHistory();
        const name = `history of a workflow after ${count} tool calls`;
        yield { name, unit: "events", values: [events.length], floors: [] };
      }
    } finally {
      await connection.close();
    }
  },
};

function specOf(model: string) {
  return {
    id: model.replace(":", "-"),
    model: `openai:${model}`,
    mcpServers: ["srv"],
    allowedTools: tools(...(model.startsWith("tool") ? [tool] : [])),
  };
}
