/**
 * Benchmarks: `npm run bench [-- --json] [--only <name>]… [--peers]`. Everything runs on this machine over loopback with bounded load,
 * and each figure is printed with a floor that was measured in the same run.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { a2a } from "./benchmarks/executors/a2a.ts";
import { againstLocal } from "./benchmarks/against-local.ts";
import { consoleScreens } from "./benchmarks/console.ts";
import { containers } from "./benchmarks/containers.ts";
import { clients } from "./benchmarks/clients.ts";
import { conversation } from "./benchmarks/conversation.ts";
import { fair } from "./benchmarks/fair.ts";
import { fanOut } from "./benchmarks/fan-out.ts";
import { fold } from "./benchmarks/fold.ts";
import { growth } from "./benchmarks/scale/growth.ts";
import { inbox } from "./benchmarks/scale/inbox.ts";
import { isolation } from "./benchmarks/isolation.ts";
import { knowledge } from "./benchmarks/knowledge/knowledge.ts";
import { longThread } from "./benchmarks/scale/long-thread.ts";
import { manyRuns } from "./benchmarks/scale/many-runs.ts";
import { peers } from "./peers/peers.ts";
import { resolution } from "./benchmarks/resolution.ts";
import { resume } from "./benchmarks/resume.ts";
import { sandbox } from "./benchmarks/sandbox.ts";
import { shards } from "./benchmarks/scale/shards.ts";
import { steps } from "./benchmarks/steps.ts";
import { streams } from "./benchmarks/streams.ts";
import { subtasks } from "./benchmarks/subtasks.ts";
import { takeover } from "./benchmarks/takeover.ts";
import { temporal } from "./benchmarks/executors/temporal.ts";
import { throughput } from "./benchmarks/throughput.ts";
import { turns } from "./benchmarks/turns.ts";
import { waitingRuns } from "./benchmarks/waiting.ts";
import { workspace } from "./benchmarks/workspace.ts";
import type { Figure } from "./figure.ts";
import { jsonOf, lineOf, tableOf } from "./figure.ts";

const benchmarks = [
  fold,
  resolution,
  conversation,
  turns,
  steps,
  subtasks,
  fanOut,
  sandbox,
  isolation,
  workspace,
  throughput,
  waitingRuns,
  growth,
  resume,
  manyRuns,
  inbox,
  longThread,
  takeover,
  againstLocal,
  streams,
  fair,
  peers,
  containers,
  consoleScreens,
  clients,
  knowledge,
  shards,
  temporal,
  a2a,
];
/** The default timeout of a benchmark, and the timeout of all of those together. */
const defaultMs = 60_000;
const maxInAllMs = 170_000;

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean" },
    only: { type: "string", multiple: true },
    peers: { type: "boolean", default: false },
  },
});
const only = options.peers ? [...(options.only ?? []), peers.name] : options.only;
const names = benchmarks.map(({ name }) => name);
const unknown = (only ?? []).filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(", ")}; known benchmarks: ${names.join(", ")}`);
  process.exit(2);
}

const figures: Figure[] = [];
const all = AbortSignal.timeout(maxInAllMs);
for (const { name, maxMs, measure } of benchmarks) {
  const isAsked = only === undefined ? maxMs === undefined : only.includes(name);
  if (!isAsked) continue;
  const bound = AbortSignal.timeout(maxMs ?? defaultMs);
  const signal = maxMs === undefined ? AbortSignal.any([all, bound]) : bound;
  try {
    signal.throwIfAborted();
    for await (const figure of measure(signal)) {
      figures.push(figure);
      console.error(`${name}: ${lineOf(figure)}`);
    }
  } catch (error) {
    // The figures measured so far remain useful.
    process.exitCode = 1;
    if (!signal.aborted) console.error(`${name} was not measured:`, error);
    else console.error(`${name} took too long; run it alone: --only ${name}`);
  }
}
console.log(options.json === true ? jsonOf(figures) : tableOf(figures));
