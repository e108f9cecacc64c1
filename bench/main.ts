/**
 * Benchmarks: `npm run bench [-- --json]`. Everything runs on this machine over loopback, in bounded numbers, and every
 * figure stands beside a floor that was measured in the same run.
 */
import { cpus } from "node:os";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { barePython, floorRun } from "./floor.ts";
import { median, rateOf, timesOf } from "./measure.ts";
import { System } from "./system.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly floor?: number;
}

const figures: Figure[] = [];
const note = (figure: Figure) => {
  figures.push(figure);
  process.stderr.write(`${figure.name}: ${shown(figure.value)} ${figure.unit}\n`);
};

await using system = await System.start();
const { reeve, modelUrl } = system;

const models = ["text:20", "text:200", "tool-once", "tool-chain:10"];
const idOf = (model: string) => model.replaceAll(":", "-");
for (const model of models) {
  const tools = model.startsWith("tool")
    ? { mcpServers: ["srv"], excludedTools: ["mcp__srv__crash", "mcp__srv__hang"] }
    : {};
  await createAgent({
    id: idOf(model),
    model: `openai:${model}`,
    ...tools,
    excludedToolPatterns: [
      "read_*",
      "write_*",
      "publish_*",
      ...(model.startsWith("tool") ? [] : ["*"]),
    ],
    maxRounds: 20,
  });
}
await createAgent({ id: "sandbox", model: "scripted:sandbox", permissionClasses: ["execute"] });
await createAgent({
  id: "waits",
  model: "openai:tool-once",
  mcpServers: ["srv"],
  excludedToolPatterns: ["read_*", "write_*", "publish_*", "*crash", "*hang"],
  hitlTools: ["mcp__srv__search"],
});

for (const model of ["text:20", "tool-once", "tool-chain:10"]) {
  const floor = median(await timesOf(40, () => floorRun(modelUrl, model)));
  const value = median(await timesOf(40, () => run(idOf(model))));
  note({ name: `${model}, one at a time, median`, value, unit: "ms", floor });
}

const floorFirst: number[] = [];
await timesOf(40, async () => floorFirst.push((await floorRun(modelUrl, "text:20")).firstTokenMs));
const first: number[] = [];
await timesOf(40, async () => first.push(await run("text-20")));
note({
  name: "first token of text:20, median",
  value: median(first),
  unit: "ms",
  floor: median(floorFirst),
});

for (const [model, concurrency, total] of [
  ["tool-once", 50, 600],
  ["tool-once", 200, 800],
  ["text:200", 50, 300],
] as const) {
  const floor = await rateOf(total, concurrency, () => floorRun(modelUrl, model));
  const before = system.usage();
  const value = await rateOf(total, concurrency, () => run(idOf(model)));
  const after = system.usage();
  note({ name: `${model}, ${concurrency} at a time`, value, unit: "runs/s", floor });
  const cpuMs = (after.cpuMs - before.cpuMs) / total;
  note({
    name: `${model}, ${concurrency} at a time, processor time`,
    value: cpuMs,
    unit: "ms/run",
  });
  if (model === "text:200")
    note({ name: "the same in tokens", value: value * 200, unit: "tokens/s", floor: floor * 200 });
}

const python = median(await timesOf(30, barePython));
const sandboxed: number[] = [];
await timesOf(30, async () => sandboxed.push(await sandboxedCall()));
note({
  name: "a call of execute_code, from queue to result, median",
  value: median(sandboxed),
  unit: "ms",
  floor: python,
});

const waiting = 1_000;
const before = system.usage();
await rateOf(waiting, 50, () => waits());
const after = system.usage();
note({
  name: `memory of each of ${waiting} waiting runs`,
  value: (after.rssBytes - before.rssBytes) / waiting / 1024,
  unit: "KiB",
});

print();

async function createAgent(spec: object): Promise<void> {
  await reeve.agents.createAgent({ spec: create(AgentSpecSchema, { name: "bench", ...spec }) });
}

/** One run, watched to its end. Gives the time to its first text, in milliseconds. */
async function run(agentId: string): Promise<number> {
  const startedAt = performance.now();
  let firstTextMs = 0;
  let status: RunStatus = RunStatus.UNSPECIFIED;
  const { run: started } = await reeve.runs.startRun({ agentId, input: "go" });
  for await (const { events } of reeve.runs.watchRun({ runId: started?.runId ?? "" })) {
    for (const { event } of events) {
      if (event.case === "text" && firstTextMs === 0) firstTextMs = performance.now() - startedAt;
      if (event.case === "status") ({ status } = event.value);
    }
  }
  if (status !== RunStatus.COMPLETED)
    throw new Error(`a run of ${agentId} ended with status ${status}`);
  return firstTextMs;
}

async function sandboxedCall(): Promise<number> {
  const { run: started } = await reeve.runs.startRun({ agentId: "sandbox", input: "go" });
  let durationMs = Number.NaN;
  for await (const { events } of reeve.runs.watchRun({ runId: started?.runId ?? "" })) {
    for (const { event } of events) {
      if (event.case === "toolResult") ({ durationMs } = event.value);
    }
  }
  return durationMs;
}

/** Starts a run, and returns when it waits for a person. */
async function waits(): Promise<void> {
  const { run: started } = await reeve.runs.startRun({ agentId: "waits", input: "go" });
  for await (const { events } of reeve.runs.watchRun({ runId: started?.runId ?? "" })) {
    if (events.some(({ event }) => event.case === "approval")) return;
  }
}

function print(): void {
  if (process.argv.includes("--json")) {
    console.log(
      JSON.stringify({ node: process.version, processors: cpus().length, figures }, null, 2),
    );
    return;
  }
  console.log(`\n${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}\n`);
  console.log("| figure | value | floor | ratio |\n| --- | --- | --- | --- |");
  for (const { name, value, unit, floor } of figures) {
    const ratio = floor === undefined ? "" : `${shown(value / floor)}×`;
    console.log(
      `| ${name} | ${shown(value)} ${unit} | ${floor === undefined ? "" : shown(floor)} | ${ratio} |`,
    );
  }
}

function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
