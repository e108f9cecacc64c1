import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { ServiceName } from "../../system/support/deployment.ts";
import { Deployment } from "../../system/support/deployment.ts";
import { watchToEnd } from "../../system/support/watching.ts";
import { startPlayingServer } from "../../support/playing-server.ts";
import { randomFrom } from "./random.ts";
import { effects, playWorker, workerAgent } from "./worker-agent.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** How many runs in all, and how many of them at a time. */
  readonly runs: number;
  readonly abreast: number;
  /** Hears what is done to the processes. */
  note(line: string): void;
}

/** What came of it. */
export interface ChaosReport {
  readonly kills: number;
  /** Everything that broke a promise, with the run; empty: nothing did. */
  readonly broken: readonly string[];
  readonly completed: number;
  /** Calls whose outcome nobody knows, which the model was told. */
  readonly unknownOutcomes: number;
}

/** Carries out runs whose tools have real effects while the processes are killed and stopped at random. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const random = randomFrom(options.seed);
  await using models = await startPlayingServer(playWorker);
  await using deployment = await Deployment.start({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
  });
  await deployment.reeve.agents.createAgent({ spec: workerAgent });
  const over = new AbortController();
  const destruction = destroy(deployment, random, options.note, over.signal);
  const logs = new Map<string, readonly RunEvent[]>();
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < options.runs; index = next++) {
      const runId = await start(deployment, `chaos-${options.seed}-${index}`);
      const approving = approve(deployment, runId, over.signal);
      logs.set(runId, await watchToEnd(deployment, runId));
      await approving;
      options.note(`${logs.size} of ${options.runs} runs have ended`);
    }
  };
  await Promise.all(Array.from({ length: options.abreast }, lane));
  over.abort();
  const kills = await destruction;
  const findings = [...logs].map(([runId, events]) => examine(runId, events));
  return {
    kills,
    broken: findings.flatMap(({ broken }) => broken),
    completed: findings.filter(({ isCompleted }) => isCompleted).length,
    unknownOutcomes: findings.reduce((sum, { unknown }) => sum + unknown, 0),
  };
}

const victims: readonly ServiceName[] = ["runtime", "toolhost", "gateway", "approvals"];

/** Kills or stops something now and then, and brings it back. Returns how often. */
async function destroy(
  deployment: Deployment,
  random: () => number,
  note: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await wait(200 + random() * 1_300);
    const victim = victims[Math.floor(random() * victims.length)] ?? "runtime";
    const fate = random();
    kills++;
    if (fate < 0.15) {
      note("kill nats");
      await deployment.killNats();
      await wait(random() * 500);
      await deployment.startNats();
    } else if (fate < 0.4) {
      note(`stop ${victim}`);
      deployment.signal(victim, "SIGSTOP");
      await wait(500 + random() * 2_500);
      deployment.signal(victim, "SIGCONT");
    } else {
      note(`kill ${victim}`);
      await deployment.kill(victim);
      await wait(random() * 300);
      await deployment.start(victim);
    }
  }
  return kills;
}

/** Asks again until there is an answer, as any client does: the same id is the same run. */
async function start(deployment: Deployment, requestId: string): Promise<string> {
  const request = { agentId: "worker", input: "work", requestId };
  const { run } = await stubborn(() => deployment.reeve.runs.startRun(request));
  return run?.runId ?? "";
}

/** A person who looks at the run now and then, and approves what it asks for. */
async function approve(deployment: Deployment, runId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { run } = await stubborn(() => deployment.reeve.runs.getRun({ runId }));
    if (run === undefined || run.status >= RunStatus.COMPLETED) return;
    for (const approvalId of run.pendingApprovals) {
      const decision = { approvalId, approved: true, decisionId: `yes-${approvalId}` };
      await stubborn(() => deployment.reeve.approvals.decideApproval(decision));
    }
    await wait(100);
  }
}

async function stubborn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (code !== Code.Unavailable && code !== Code.Canceled && code !== Code.Aborted) throw error;
      await wait(50);
    }
  }
}

interface Finding {
  readonly broken: readonly string[];
  readonly isCompleted: boolean;
  readonly unknown: number;
}

/** Whether a run kept every promise, as far as its log and the files of its sandbox tell. */
function examine(runId: string, events: readonly RunEvent[]): Finding {
  const broken: string[] = [];
  const breaks = (what: string) => broken.push(`${runId}: ${what}`);
  for (const [index, { sequence }] of events.entries()) {
    if (sequence !== index + 1) breaks(`event ${index + 1} has the sequence ${sequence}`);
  }
  const ends = events.filter(
    ({ event }) => event.case === "status" && event.value.status >= RunStatus.COMPLETED,
  );
  if (ends.length !== 1) breaks(`${ends.length} terminal events`);
  const results = events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value] : []));
  const ids = results.map(({ result }) => result?.callId ?? "");
  if (new Set(ids).size !== ids.length) breaks("a call has two results");
  const code = results.filter(({ result }) => result?.name === "execute_code");
  const counted = countsIn(code.at(-1)?.result?.content ?? "");
  for (let index = 0; index < effects; index++) {
    const times = counted[`effect-${index}`] ?? 0;
    const isKnown = code[index]?.success === true;
    // An effect whose outcome nobody knows may be there or not, but never twice.
    if (times > 1) breaks(`effect ${index} happened ${times} times`);
    if (counted["known"] === 1 && isKnown && times !== 1) {
      breaks(`effect ${index} succeeded and happened ${times} times`);
    }
  }
  const last = ends[0]?.event;
  const isCompleted = last?.case === "status" && last.value.status === RunStatus.COMPLETED;
  if (!isCompleted) breaks(`did not complete: ${JSON.stringify(last?.value)}`);
  const unknown = code.filter(({ error }) => error.includes("unknown")).length;
  return { broken, isCompleted, unknown };
}

/** The lines of each effect, as the last call counted them; without `known` it came to no count. */
function countsIn(content: string): Readonly<Record<string, number>> {
  try {
    const { stdout } = JSON.parse(content) as { readonly stdout: string };
    return { known: 1, ...(JSON.parse(stdout) as Record<string, number>) };
  } catch {
    return {};
  }
}
