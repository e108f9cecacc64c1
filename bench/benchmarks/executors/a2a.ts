import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { Cluster } from "../../cluster.ts";
import { everything } from "../../decisions.ts";
import type { Benchmark, Figure } from "../../figure.ts";
import { createTakeoverAgents, killOnce } from "../../kill-worker.ts";
import { timesOf, warmUp } from "../../measure.ts";
import { createAgent, run, tools } from "../../runs.ts";
import { System } from "../../system.ts";

const times = 10;
const warmUps = 3;
const kills = 3;
const models = ["tool-once", "tool-chain:10"];
/** A run has at most 1,000 rounds, the last of which answers. */
const calls = [10, 100, 999];
const tool = "mcp__srv__search";

/**
 * Whole runs, one at a time, of an agent at an endpoint, which is an agent of another Reeve; the floor is that agent, started there. Also
 * the log of the caller, by the number of tool calls of the agent, and the interruption of runs whose worker is killed.
 */
export const a2a: Benchmark = {
  name: "a2a",
  maxMs: 300_000,
  async *measure(signal: AbortSignal): AsyncIterable<Figure> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-bench-a2a-"));
    try {
      await using there = await System.start({ settings: { REEVE_A2A: "all" } }, signal);
      const settings = remotesOf(there, folder);
      yield* measureTakeovers(there, settings, signal);
      await using here = await System.start({ modelUrl: there.modelUrl, settings }, signal);
      yield* measureRuns(there, here, signal);
      yield* measureLogs(there, here, signal);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Settings = Readonly<Record<string, string>>;

/** Returns the settings of a runtime that may call the agents of a system. */
function remotesOf({ url, token }: System, folder: string): Settings {
  const path = join(folder, "remotes.json");
  const entry = {
    name: "there",
    url: `${url}/a2a/`,
    token_env: "THERE_TOKEN",
    allow_addresses: ["127.0.0.1"],
  };
  writeFileSync(path, JSON.stringify({ remotes: [entry] }));
  return { REEVE_A2A_REMOTES: path, THERE_TOKEN: token };
}

function endpointAt({ url }: System, agentId: string) {
  return { model: "", endpoint: { url: `${url}/a2a/agents/${agentId}`, protocol: "a2a" } };
}

async function* measureRuns(
  there: System,
  here: System,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  for (const model of models) {
    const spec = specOf(model);
    await createAgent(there, spec, signal);
    await createAgent(here, { id: spec.id, ...endpointAt(there, spec.id) }, signal);
    const measured = async (system: System) => {
      const work = () => run(system, spec.id, signal);
      await warmUp(warmUps, work);
      return await timesOf(times, work);
    };
    const [values, floors] = [await measured(here), await measured(there)];
    yield { name: `${model} through A2A, one at a time`, unit: "ms", values, floors };
  }
}

async function* measureLogs(
  there: System,
  here: System,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  for (const count of calls) {
    const max = count + 1;
    const limits = { maxRounds: max, budgets: { maxLlmCalls: max, maxToolCalls: max } };
    const id = `history-${count}`;
    await createAgent(there, { ...specOf(`tool-chain:${count}`), ...limits, id }, signal);
    await createAgent(here, { id, ...endpointAt(there, id) }, signal);
    const { runId } = await run(here, id, signal);
    const { runs } = await there.reeve.runs.listRuns({ filter: { agentId: id } }, { signal });
    const called = await logOf(there, runs[0]?.runId ?? "", signal);
    const calling = await logOf(here, runId, signal);
    for (const unit of ["events", "bytes"] as const) {
      const name = `log of the caller after ${count} tool calls there`;
      yield { name, unit, values: [calling[unit]], floors: [called[unit]] };
    }
  }
}

/** Returns the length of the log of a run that has ended. */
async function logOf({ reeve }: System, runId: string, signal: AbortSignal) {
  const length = { events: 0, bytes: 0 };
  for await (const { events } of reeve.runs.watchRun(
    { runId, selection: everything },
    { signal },
  )) {
    for (const event of events) {
      length.events += 1;
      length.bytes += toBinary(RunEventSchema, event).length;
    }
  }
  return length;
}

async function* measureTakeovers(
  there: System,
  settings: Settings,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  await using cluster = await Cluster.start(2, signal, { settings });
  await createTakeoverAgents(cluster, signal);
  await createTakeoverAgents(there, signal);
  await createAgent(cluster, { id: "far-streams", ...endpointAt(there, "streams") }, signal);
  const [values, floors]: [number[], number[]] = [[], []];
  for (let kill = 0; kill < kills; kill++) {
    for (const taken of await killOnce(cluster, signal, ["far-streams", "streams"])) {
      const measured = taken.agentId === "streams" ? floors : values;
      measured.push(taken.nextEventMs);
    }
  }
  const name = "worker of a caller killed, to the next event";
  // Of few runs, all that are measured may be of the other kind.
  if (values.length > 0) yield { name, unit: "ms", values, floors };
}

function specOf(model: string) {
  return {
    id: model.replace(":", "-"),
    model: `openai:${model}`,
    mcpServers: ["srv"],
    allowedTools: tools(tool),
  };
}
