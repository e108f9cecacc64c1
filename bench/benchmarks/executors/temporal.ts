import { createRequire } from "node:module";
import { join } from "node:path";
import { Cluster } from "../../cluster.ts";
import type { Benchmark, Figure } from "../../figure.ts";
import { createTakeoverAgents, killOnce } from "../../kill-worker.ts";
import { timesOf, warmUp } from "../../measure.ts";
import { createAgent, run, tools } from "../../runs.ts";
import { System } from "../../system.ts";
import { TestTemporal, temporalPrograms } from "@reeve/test/support/temporal";

const times = 20;
const warmUps = 5;
const kills = 3;
const models = ["text:20", "tool-once", "tool-chain:10"];
/** A run has at most 1,000 rounds, the last of which answers. */
const calls = [10, 100, 999];
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
 * history of a workflow, by the number of tool calls of its run, and the interruption of runs whose worker is killed. Needs
 * REEVE_TEMPORAL=1.
 */
export const temporal: Benchmark = {
  name: "temporal",
  maxMs: 180_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const programs = await temporalPrograms();
    await using server = await TestTemporal.start(programs);
    const settings = Object.fromEntries(
      Object.entries(server.settings).map(([name, value]) => [name, value ?? ""]),
    );
    yield* measureRuns(settings, signal);
    yield* measureTakeovers(settings, signal);
  },
};

type Settings = Readonly<Record<string, string>>;

async function* measureTakeovers(settings: Settings, signal: AbortSignal): AsyncIterable<Figure> {
  await using cluster = await Cluster.start(2, signal, { settings });
  await createTakeoverAgents(cluster, signal);
  const values: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    values.push(...(await killOnce(cluster, signal)).map(({ nextEventMs }) => nextEventMs));
  }
  yield { name: "worker killed on Temporal, to the next event", unit: "ms", values };
}

async function* measureRuns(settings: Settings, signal: AbortSignal): AsyncIterable<Figure> {
  await using carried = await System.start({ settings }, signal);
  await using plain = await System.start({ modelUrl: carried.modelUrl }, signal);
  for (const model of models) {
    const spec = specOf(model);
    const measured = async (system: System) => {
      await createAgent(system, spec, signal);
      const work = () => run(system, spec.id, signal);
      await warmUp(warmUps, work);
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
      const max = count + 1;
      const limits = { maxRounds: max, budgets: { maxLlmCalls: max, maxToolCalls: max } };
      const spec = { ...specOf(`tool-chain:${count}`), ...limits, id: `history-${count}` };
      await createAgent(carried, spec, signal);
      const { runId } = await run(carried, spec.id, signal);
      const workflow = client.workflow.getHandle(runId);
      await workflow.result();
      const { events } = await workflow.fetchHistory();
      const name = `history of a workflow after ${count} tool calls`;
      yield { name, unit: "events", values: [events.length] };
    }
  } finally {
    await connection.close();
  }
}

function specOf(model: string) {
  return {
    id: model.replace(":", "-"),
    model: `openai:${model}`,
    mcpServers: ["srv"],
    allowedTools: tools(...(model.startsWith("tool") ? [tool] : [])),
  };
}
