import { RunStatus } from "@reeve/contracts/run";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { openConnection } from "@reeve/client";
import { startPlayingServer } from "../../support/playing-server.ts";
import { endOf, runViolations } from "./check-run.ts";
import { threadViolations } from "./check-threads.ts";
import { falseAlarms, unknownOutcomes } from "./check-calls.ts";
import type { Seen } from "./client.ts";
import { Client } from "./client.ts";
import type { ProvidedStore } from "./cluster.ts";
import { Cluster, tenant } from "./cluster.ts";
import { startCounter } from "./counter.ts";
import { FaultLog } from "./fault-log.ts";
import type { RunEvidence } from "./evidence.ts";
import { gather } from "./evidence.ts";
import type { WeightedFault } from "./faults.ts";
import { faultNames, injectFaults } from "./faults.ts";
import { randomFrom } from "./random.ts";
import type { ChaosReport } from "../report/report.ts";
import type { RunPlan } from "./run-plan.ts";
import { planOf } from "./run-plan.ts";
import { lostDispatch, settled } from "./settled.ts";
import { takeoverPauses } from "../report/takeover-pauses.ts";
import { playPlans, workerAgent } from "./worker-agent.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** Number of runs. */
  readonly runs: number;
  readonly parallelRuns: number;
  /** Number of faults that are injected at the same time. */
  readonly parallelFaults: number;
  /**
   * How long a run may have no new events before it counts as lost. A machine that is busy, and faults that follow each other, make
   * pauses longer. Default: 90 s.
   */
  readonly patienceMs?: number;
  /** Names of the permitted faults. Absent: all. */
  readonly only?: readonly string[] | undefined;
  /** Whether each toolhost has its own disk. Absent: they share one. */
  readonly ownDisks?: boolean | undefined;
  /** Folder for the logs of the services. */
  readonly logs?: string | undefined;
  /** NATS servers that others started. Absent: one server, with the faults of `faults.ts`. */
  readonly store?: ChaosStore | undefined;
  /** What carries the runs. Absent: the queue in NATS. */
  readonly executor?: ChaosExecutor | undefined;
  /** Receives each injected fault and the progress of the runs. */
  note(line: string): void;
}

export interface ChaosStore extends ProvidedStore {
  /** The faults that act on the servers. */
  readonly faults: readonly WeightedFault[];
  /** The milliseconds during which the store has answered so far. */
  now(): number;
}

/** An executor that others started. */
export interface ChaosExecutor {
  /** The settings of services that use it. */
  readonly settings: Readonly<Record<string, string>>;
  /** The faults that act on it. */
  readonly faults: readonly WeightedFault[];
}

const never = new AbortController().signal;

/** Executes runs that act on the world while faults are injected into the processes, and reports the violations. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, runs, patienceMs = 90_000, note } = options;
  const beganAt = performance.now();
  const violations: string[] = [];
  const storeNow = () => options.store?.now() ?? performance.now();
  using faultLog = new FaultLog();
  const plans = Array.from({ length: runs }, (_, index) => planOf(seed, index));
  await using models = await startPlayingServer(playPlans((index) => planAt(plans, index)));
  await using counter = await startCounter();
  await using cluster = await Cluster.start({
    modelsUrl: models.url,
    counterUrl: counter.url,
    logs: options.logs,
    ownDisks: options.ownDisks,
    store: options.store,
    settings: options.executor?.settings,
    storeNow,
    onTrouble: (what) => {
      note(what);
      violations.push(what);
    },
  });
  using gateways = new DisposableStack();
  const reeves = cluster.addresses.map((address) => gateways.use(openConnection(address)));
  await reeves[0]?.agents.createAgent({ spec: workerAgent });

  const storeFaults = [...(options.store?.faults ?? []), ...(options.executor?.faults ?? [])];
  const over = new AbortController();
  const busy = new Set<string>();
  const injecting = Array.from({ length: options.parallelFaults }, (_, hand) => {
    const random = randomFrom(seed, `hand ${hand}`);
    const scene = { cluster, random, faultLog, busy, note, storeFaults };
    const executorFaults = options.executor?.faults.map(([name]) => name) ?? [];
    const only = options.only ?? [...faultNames, ...executorFaults];
    return injectFaults(scene, only, over.signal).catch((error: unknown) => {
      violations.push(`a fault could not be repaired: ${String(error)}`);
    });
  });
  const seen = new Map<RunPlan, { readonly seen: Seen; readonly stuck: string | undefined }>();
  let next = 0;
  const lane = async () => {
    for (let plan = plans[next++]; plan !== undefined; plan = plans[next++]) {
      const random = randomFrom(seed, `client ${plan.index}`);
      const client = new Client(reeves, random, { patienceMs, storeNow });
      const run = await client.carryOut(plan, `chaos-${seed}-${plan.index}`);
      const stuck = run.isGivenUp ? await whyStuck(cluster, run.runId) : undefined;
      seen.set(plan, { seen: run, stuck });
      note(`${seen.size} of ${runs} runs have ended`);
    }
  };
  await Promise.all(Array.from({ length: options.parallelRuns }, lane));
  over.abort();
  await Promise.all(injecting);

  violations.push(...(await settled(cluster)));
  const statusAt = async (gateway: number, runId: string) => {
    const { run } = (await reeves[gateway]?.runs.getRun({ runId })) ?? {};
    return run?.status ?? RunStatus.UNSPECIFIED;
  };
  const log = await openRunLog(cluster.nats);
  const journal = await openCallJournal(cluster.nats);
  const evidence: RunEvidence[] = [];
  for (const [plan, { seen: run, stuck }] of seen) {
    const sources = { cluster, counter, log, journal, statusAt };
    evidence.push(await gather(sources, plan, run, stuck));
  }
  const wasAffected = (host: string, fromMs: number, toMs: number) => {
    const member = cluster.members.find(({ hosts }) => hosts.has(host));
    // Only a stepped clock ends a call before it began.
    if (fromMs > toMs) return true;
    // A host that is not known to the harness was killed before it logged that it had started.
    return member === undefined || faultLog.wasAffected(member.name, fromMs, toMs);
  };
  const workers = cluster.of("runtime").map(({ name }) => name);
  violations.push(...evidence.flatMap((known) => runViolations(known)));
  violations.push(...(await threadViolationsOf(cluster, evidence)));
  return {
    seed,
    runs,
    seconds: Math.round((performance.now() - beganAt) / 1_000),
    ...figuresOf(evidence, (fromMs, toMs) => faultLog.awayMs(workers, fromMs, toMs)),
    falseAlarms: evidence.reduce((sum, known) => sum + falseAlarms(known, wasAffected), 0),
    faults: faultLog.counts(),
    faultCount: faultLog.total,
    violations,
  };
}

function planAt(plans: readonly RunPlan[], index: number): RunPlan {
  const plan = plans[index];
  if (plan === undefined) throw new Error(`no plan with index ${index}`);
  return plan;
}

async function whyStuck({ nats }: Cluster, run: string): Promise<string> {
  const ask = async () => {
    const log = await openRunLog(nats);
    return await lostDispatch(nats, (await log.read({ tenant, run }, emptyTail, never)).events);
  };
  return await ask().catch((error: unknown) => `no diagnosis: ${String(error)}`);
}

async function threadViolationsOf(
  { nats }: Cluster,
  evidence: readonly RunEvidence[],
): Promise<readonly string[]> {
  const log = await openThreadLog(nats);
  const threads = Map.groupBy(evidence, ({ plan }) => plan.thread);
  const violations: string[] = [];
  for (const [thread, runs] of threads) {
    if (thread === undefined) continue;
    const read = () => log.read({ tenant, thread }, emptyTail, never);
    const { events } = await retryUnavailable(read, { maxElapsedMs: 30_000 }, never);
    const ids = runs.map(({ seen }) => seen.runId);
    violations.push(...threadViolations(thread, events, ids));
  }
  return violations;
}

function figuresOf(
  evidence: readonly RunEvidence[],
  awayMs: (fromMs: number, toMs: number) => number,
) {
  const ends = evidence.map(({ stored }) => endOf(stored));
  // A turn of a thread waits for the turns before it, which would count as a pause.
  const single = evidence.filter(({ plan }) => plan.thread === undefined);
  const longest = (pause: (seen: Seen) => number) =>
    Math.round(Math.max(0, ...single.map(({ seen }) => pause(seen))));
  const sum = (figure: (known: RunEvidence) => number) =>
    evidence.reduce((total, known) => total + figure(known), 0);
  const count = (kind: string) =>
    sum(({ stored }) => stored.filter(({ event }) => event.case === kind).length);
  return {
    completed: ends.filter((end) => end === RunStatus.COMPLETED).length,
    cancelled: ends.filter((end) => end === RunStatus.CANCELLED).length,
    events: sum(({ stored }) => stored.length),
    calls: sum(({ journals }) => journals.size),
    effects: sum(({ marks }) => [...marks.values()].filter(({ times }) => times > 0).length),
    unknownOutcomes: sum(({ stored }) => unknownOutcomes(stored)),
    takeovers: count("runClaimed") - evidence.filter(({ stored }) => hasClaim(stored)).length,
    takeoverMs: evidence.flatMap(({ stored }) => takeoverPauses(stored)),
    takeoverWithWorkerMs: evidence.flatMap(({ stored }) => takeoverPauses(stored, awayMs)),
    approvals: sum(({ stored }) => stored.filter(isDecision).length),
    turns: evidence.filter(({ plan }) => plan.thread !== undefined).length,
    interruptions: sum(({ seen }) => seen.interruptions),
    longestPauseMs: longest(({ longestPauseMs }) => longestPauseMs),
    longestPauseWithStoreMs: longest(({ longestPauseWithStoreMs }) => longestPauseWithStoreMs),
  };
}

function isDecision({ event }: RunEvidence["stored"][number]): boolean {
  return event.case === "approval" && event.value.approval?.decision !== undefined;
}

function hasClaim(stored: RunEvidence["stored"]): boolean {
  return stored.some(({ event }) => event.case === "runClaimed");
}
