import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { ToolCallFact } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { isTerminal } from "@reeve/run/head/run-status";
import { endTurn } from "@reeve/run/thread/end-turn";
import type { WhenBusy } from "@reeve/run/thread/queue-turn";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { startTurn } from "@reeve/run/thread/start-turn";
import { EndingProcess } from "../ending-process.ts";
import { LogModel } from "../log-model.ts";
import { never } from "../play.ts";
import { QueueModel } from "../queue-model.ts";
import type { Actor } from "../scheduler.ts";
import { SimulatedWorld } from "../simulated-world.ts";
import { ThreadRules } from "./thread-rules.ts";

/** The stores of a process. */
export type ThreadPorts = Parameters<typeof startTurn>[0];

const key: ThreadKey = { tenant: "acme", thread: "t1" };
/** The number of repairs in a world that has settled. */
const rounds = 3;

/** A part of the protocol that is changed, to prove that the exploration finds the gap. */
export interface ThreadBreakage {
  /** Changes the ports of every process. */
  readonly ports?: (ports: ThreadPorts) => ThreadPorts;
  /** The faults that may happen; absent: all. */
  readonly faults?: RegExp;
}

/** A thread with clients that start and cancel its runs, and a worker that ends them. */
export class ThreadWorld extends SimulatedWorld {
  readonly #rules = new ThreadRules(() => this.hadFaults);
  readonly #threads: LogModel<ThreadKey, ThreadEvent>;
  readonly #log: LogModel<RunKey, RunEvent>;
  readonly #journal: LogModel<CallKey, ToolCallFact>;
  readonly #dispatch: QueueModel<Dispatch>;
  readonly #workers: EndingProcess[] = [];
  readonly #stored = memoryThreadLog();
  readonly #breakage: ThreadBreakage;

  constructor(breakage: ThreadBreakage = {}) {
    super(breakage.faults);
    this.#breakage = breakage;
    this.#threads = new LogModel(this.scheduler, {
      inner: this.#stored,
      nameOf: () => "the thread",
      kindOf: ({ event }) =>
        `${event.case ?? "unknown"} ${event.value !== undefined && "runId" in event.value ? event.value.runId : ""}`,
      onAppended: (_, __, events) => this.#rules.threadAppended(events),
      isPrompt: true,
    });
    this.#log = new LogModel(this.scheduler, {
      inner: memoryRunLog(),
      nameOf: ({ run }) => run,
      kindOf: ({ event }) => event.case ?? "unknown",
      onAppended: ({ name }, { run }, events) => this.#rules.runAppended(name, run, events),
      isPrompt: true,
    });
    this.#journal = new LogModel(this.scheduler, {
      inner: memoryCallJournal(),
      nameOf: ({ call }) => `call ${call}`,
      kindOf: ({ fact }) => fact.case ?? "unknown",
      onAppended: () => undefined,
      isPrompt: true,
    });
    this.#dispatch = new QueueModel("dispatch", this.scheduler);
  }

  protected get logs() {
    return [this.#threads, this.#log, this.#journal];
  }

  protected get queues() {
    return [this.#dispatch];
  }

  protected get processes() {
    return this.#workers;
  }

  get violations(): readonly string[] {
    return [...this.#rules.violations, ...this.failures];
  }

  /** From now on, each act waits for its turn. */
  begin(): this {
    this.scheduler.isFree = false;
    this.#work("worker");
    return this;
  }

  /** A client starts a run, whose id is also its input. */
  starts(runId: string, whenBusy: WhenBusy = "queue"): void {
    const { tenant, thread: threadId } = key;
    const requestHash = new TextEncoder().encode(runId);
    const created = create(RunCreatedSchema, { tenant, threadId, input: runId, requestHash });
    const run = { runId, runCreated: anyPack(RunCreatedSchema, created), whenBusy };
    this.start(`gateway of ${runId}`, async (actor) => {
      await startTurn(this.#portsOf(actor), key, run, created, never());
      this.#rules.accepted(runId, whenBusy === "interrupt");
    });
  }

  /** A client cancels a run when it is in the thread. */
  cancels(runId: string): void {
    this.start(`canceller of ${runId}`, async (actor) => {
      await this.scheduler.act({
        actor,
        label: `sees ${runId}`,
        kind: "look",
        isPossible: () => this.#rules.isOpen(runId),
        happen: async () => undefined,
        outcomeOf: () => "",
      });
      const ports = this.#portsOf(actor);
      const by = { requestedBy: "ann", reason: "enough" };
      const { status } = await cancelRun(ports, { tenant: key.tenant, run: runId }, by, never());
      if (status !== RunStatus.CANCELLED) return;
      await endTurn(ports, key, runId, never());
      this.#rules.cancelled(runId);
    });
  }

  async playOut(note: (what: string) => void): Promise<readonly string[]> {
    for (let round = 1; round <= rounds; round++) {
      if (!this.#workers.some(({ takesWork }) => takesWork)) this.#work(`worker of round ${round}`);
      await this.untilQuiet(note);
      note("the thread is repaired");
      const sweeper = this.#portsOf(this.actor(`sweeper of round ${round}`));
      repairThread(sweeper, key, never()).catch((error: unknown) => this.fail(error));
      await this.untilQuiet(note);
    }
    return [...this.#rules.atTheEnd(), ...this.failures];
  }

  #work(name: string): void {
    const actor = this.actor(name);
    const work = async (drain: AbortSignal) => {
      for await (const delivery of this.#dispatch.of(actor).take(1, drain)) {
        await this.#settle(actor, delivery);
      }
    };
    this.#workers.push(new EndingProcess(actor, work));
  }

  async #settle(actor: Actor, delivery: Delivery<Dispatch>): Promise<void> {
    try {
      const { runId } = delivery.message;
      await this.#finish(actor, runId);
      await endTurn(this.#portsOf(actor), key, runId, never());
      delivery.acknowledge();
    } catch {
      delivery.returnToQueue(0);
    }
  }

  /** Ends a run, unless it has ended. */
  async #finish(actor: Actor, runId: string): Promise<void> {
    const log = this.#log.of(actor);
    const run = { tenant: key.tenant, run: runId };
    for (;;) {
      const { events, tail } = await log.read(run, emptyTail, never());
      const hasEnded = events.some(
        ({ event }) => event.case === "status" && isTerminal(event.value.status),
      );
      if (hasEnded || events.length === 0) return;
      const facts = [
        { case: "runClaimed", value: { worker: actor.name, epoch: 1 } },
        { case: "status", value: { status: RunStatus.COMPLETED } },
      ] as const;
      const finishing = facts.map((event, index) =>
        create(RunEventSchema, { runId, sequence: tail.sequence + 1 + index, event }),
      );
      const { kind } = await log.append(run, tail, finishing, never());
      if (kind === "appended") return;
    }
  }

  #portsOf(actor: Actor): ThreadPorts {
    const ports = {
      threads: this.#threadsOf(actor),
      log: this.#log.of(actor),
      journal: this.#journal.of(actor),
      dispatch: this.#dispatch.of(actor),
    };
    return this.#breakage.ports?.(ports) ?? ports;
  }

  #threadsOf(actor: Actor): ThreadLog {
    const stored = this.#stored;
    return {
      ...this.#threads.of(actor),
      last: (thread, signal) =>
        this.scheduler.act({
          actor,
          label: "reads the end of the thread",
          kind: "look",
          happen: () => stored.last(thread, signal),
          outcomeOf: ({ tail }) => String(tail.sequence),
        }),
      readPart: (thread, tail, maxBytes, signal) =>
        this.scheduler.act({
          actor,
          label: `reads the thread after ${tail.sequence}`,
          kind: "look",
          happen: () => stored.readPart(thread, tail, maxBytes, signal),
          outcomeOf: (part) => String(part.tail.sequence),
        }),
    };
  }
}
