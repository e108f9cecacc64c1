import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { Dispatch, RunCreated, RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { ThreadEvent, ThreadHead, TurnEnded } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { RunHead } from "../../src/head/run-head.ts";
import type { WhenBusy } from "../../src/thread/queue-turn.ts";
import { startTurn } from "../../src/thread/start-turn.ts";
import { readThread } from "../../src/thread/read-thread.ts";
import type { ThreadPorts } from "../../src/thread/thread-ports.ts";

export const never = new AbortController().signal;
export const key = { tenant: "acme", thread: "t1" };

export type EventInit = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

/** The place of a run in a thread. */
export interface Turn {
  readonly runId: string;
  readonly isStarted: boolean;
  readonly ended: TurnEnded | undefined;
}

/** Returns the turns in a log, in the order in which their runs were accepted. */
export function turnsIn(events: readonly ThreadEvent[]): readonly Turn[] {
  const turns = new Map<string, Turn>();
  for (const { event } of events) {
    if (event.case === undefined || event.case === "threadDeleted") continue;
    const { runId } = event.value;
    const turn = turns.get(runId) ?? { runId, isStarted: false, ended: undefined };
    if (event.case === "turnStarted") turns.set(runId, { ...turn, isStarted: true });
    else turns.set(runId, event.case === "turnEnded" ? { ...turn, ended: event.value } : turn);
  }
  return [...turns.values()];
}

/** Returns the logs with some methods replaced. */
export function withMethods(threads: ThreadLog, methods: Partial<ThreadLog>): ThreadLog {
  return {
    append: (...args) => threads.append(...args),
    read: (...args) => threads.read(...args),
    readPart: (...args) => threads.readPart(...args),
    last: (...args) => threads.last(...args),
    follow: (...args) => threads.follow(...args),
    ...methods,
  };
}

/** The stores of threads, in memory. */
export class ThreadStage implements ThreadPorts {
  readonly threads = memoryThreadLog();
  readonly log = memoryRunLog();
  readonly journal = memoryCallJournal();
  /** The dispatched runs, each once, in the order of their first dispatch. */
  readonly dispatched: string[] = [];
  readonly dispatch: ThreadPorts["dispatch"];
  /** The dispatch queue. */
  readonly queue = new MemoryWorkQueue<Dispatch>();

  constructor() {
    const { queue } = this;
    this.dispatch = {
      publish: (message, options, signal) => {
        const { runId } = message;
        const isNew = options.dedupeId === `${runId}:start` && !this.dispatched.includes(runId);
        if (isNew) this.dispatched.push(runId);
        return queue.publish(message, options, signal);
      },
      holds: (sequence, signal) => queue.holds(sequence, signal),
    };
  }

  /** A worker takes the run and ends it. */
  async finish(runId: string, ...more: readonly EventInit[]): Promise<void> {
    await this.write(runId, { case: "runClaimed", value: { worker: "w", epoch: 1 } }, ...more, {
      case: "status",
      value: { status: RunStatus.COMPLETED },
    });
  }

  async write(runId: string, ...inits: readonly EventInit[]): Promise<void> {
    const run = { tenant: key.tenant, run: runId };
    const { tail } = await this.log.read(run, emptyTail, never);
    const events = inits.map((event, index) =>
      create(RunEventSchema, { runId, sequence: tail.sequence + 1 + index, event }),
    );
    const outcome = await this.log.append(run, tail, events, never);
    if (outcome.kind === "conflict")
      throw new Error(`another writer was first in the log of ${runId}`);
  }

  async events(runId: string): Promise<readonly RunEvent[]> {
    const { events } = await this.log.read({ tenant: key.tenant, run: runId }, emptyTail, never);
    return events;
  }

  head(): Promise<ThreadHead> {
    return readThread(this.threads, key, never);
  }

  /** All turns in the order in which their runs were accepted. */
  async turns(): Promise<readonly Turn[]> {
    return turnsIn((await this.threads.read(key, emptyTail, never)).events);
  }

  /** The runs that were accepted, in order. */
  async accepted(): Promise<readonly string[]> {
    return (await this.turns()).map(({ runId }) => runId);
  }

  /** The kinds of the events in the log of the thread, each with its run. */
  async facts(): Promise<readonly string[]> {
    const { events } = await this.threads.read(key, emptyTail, never);
    return events.map(({ event }) => {
      const runId = event.value !== undefined && "runId" in event.value ? event.value.runId : "";
      return `${event.case ?? "unknown"} ${runId}`.trim();
    });
  }
}

export function runCreated(
  input: string,
  more: Omit<MessageInitShape<typeof RunCreatedSchema>, "$typeName" | "$unknown"> = {},
): RunCreated {
  const { tenant, thread: threadId } = key;
  const requestHash = new TextEncoder().encode(input);
  return create(RunCreatedSchema, { tenant, threadId, input, requestHash, ...more });
}

/** Starts a run as a gateway does; its input is `runId`. */
export function start(
  ports: ThreadPorts,
  runId: string,
  whenBusy: WhenBusy = "queue",
  created: RunCreated = runCreated(runId),
): Promise<RunHead> {
  const run = { runId, runCreated: anyPack(RunCreatedSchema, created), whenBusy };
  return startTurn(ports, key, run, created, never);
}
