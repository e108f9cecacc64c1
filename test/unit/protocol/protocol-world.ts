import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema } from "@reeve/contracts/run";
import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CancelPorts } from "@reeve/run/commands/cancel-run";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryCallJournal, memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { LongTermMemory } from "@reeve/memory/long-term-memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { LocalCalls } from "@reeve/calls/queue/local-calls";
import { sweepRun, emptySweepRecord } from "@reeve/gateway/app/sweep/sweep-run";
import { workRuns } from "@reeve/engine/drive/work-runs";
import type { RunPorts } from "@reeve/engine/ports/run-ports";
import { EndingProcess } from "./ending-process.ts";
import { ExecutionModel } from "./execution-model.ts";
import { LogModel } from "./log-model.ts";
import type { Breakage, Play } from "./play.ts";
import { key, never } from "./play.ts";
import { catalogFor, countingTool, scriptedModel, sleeping } from "./players.ts";
import { QueueModel } from "./queue-model.ts";
import { RoutingModel } from "./routing-model.ts";
import { Rules } from "./rules.ts";
import type { Actor } from "./scheduler.ts";
import { SimulatedWorld } from "./simulated-world.ts";
import { playToolhost, toolhostNames } from "./toolhost-player.ts";

const logger = createLogger("test", "silent");
/** Longer than any simulation. */
const heartbeatMs = 2 ** 31 - 1;

/** A run with its workers, its toolhosts, and its external writers, over one store. */
export class ProtocolWorld extends SimulatedWorld {
  /** What happens when no actor can act, before each sweep. */
  readonly rounds: ((round: number) => void)[] = [];
  readonly #executions = new ExecutionModel(this.scheduler);
  readonly rules: Rules;
  readonly log: LogModel<RunKey, RunEvent>;
  readonly journal: LogModel<CallKey, ToolCallFact>;
  readonly dispatch: QueueModel<Dispatch>;
  readonly calls: QueueModel<ToolCallRequest>;
  readonly #routing: RoutingModel | undefined;
  readonly #play: Play;
  readonly #breakage: Breakage;
  readonly #workers: EndingProcess[] = [];
  readonly #hosts: EndingProcess[] = [];
  #looked = emptySweepRecord;

  constructor(play: Play, breakage: Breakage = {}) {
    super(breakage.faults);
    this.#play = play;
    this.#breakage = breakage;
    const isHadFaults = () => this.hadFaults;
    this.rules = new Rules({
      isLiveOwner: (worker, sequence) =>
        this.actors.some(
          (actor) =>
            actor.name === worker && actor.isAlive && this.dispatch.isHeldBy(actor, sequence),
        ),
      isExecuting: (host, callId) => this.#executions.isExecuting(host, { ...key, call: callId }),
      get hadFaults() {
        return isHadFaults();
      },
    });
    const runs = memoryRunLog();
    this.log = new LogModel(this.scheduler, {
      inner: runs,
      nameOf: () => "the run",
      kindOf: ({ event }) => event.case ?? "unknown",
      onAppended: (actor, _, events) => this.rules.appended(actor, events),
      append: breakage.append?.(runs),
      isPrompt: play.isSlow !== true,
    });
    const journals = memoryCallJournal();
    this.journal = new LogModel(this.scheduler, {
      inner: journals,
      nameOf: ({ call }) => `call ${call}`,
      kindOf: ({ fact }) => fact.case ?? "unknown",
      onAppended: (actor, { call }, facts) => this.rules.journalled(actor, call, facts),
      append: breakage.journalAppend?.(journals),
      isPrompt: play.isSlow !== true,
    });
    const { acknowledgesAbandoned } = breakage;
    this.dispatch = new QueueModel("dispatch", this.scheduler, {
      dedupes: breakage.dedupes ?? true,
      onAcknowledged: (...of) => this.rules.dispatchRemoved(...of),
      acknowledgesAbandoned,
    });
    const { routed } = play;
    const stream = { last: 0 };
    const isInterchangeable = routed === undefined;
    this.calls = new QueueModel("request", this.scheduler, {
      stream,
      isInterchangeable,
      ...(isInterchangeable && { onAcknowledged: (...of) => this.rules.requestRemoved(...of) }),
      acknowledgesAbandoned,
    });
    this.#routing = routed && this.#route(stream, routed === "mistaken" ? 1 : 0);
  }

  protected get logs() {
    return [this.log, this.journal];
  }

  protected get queues() {
    const own = [this.dispatch, this.calls];
    return this.#routing === undefined ? own : [...own, this.#routing];
  }

  protected get processes(): readonly EndingProcess[] {
    return [...this.#workers, ...this.#hosts];
  }

  get violations(): readonly string[] {
    return [...this.rules.violations, ...this.failures];
  }

  /** Returns the ports of an actor that writes to the run from outside. */
  outside(actor: Actor): CancelPorts {
    const { publish } =
      this.#breakage.isSilent === true ? discardingQueue : this.dispatch.of(actor);
    const ports = {
      log: this.log.of(actor),
      journal: this.journal.of(actor),
      dispatch: { publish },
    };
    return this.#breakage.outside?.(ports) ?? ports;
  }

  /** Stores the run and dispatches it. */
  async create(): Promise<this> {
    const value = {
      tenant: key.tenant,
      agentId: "a",
      input: "go",
      spec: { model: "test:x", hitlTools: this.#play.tool === "approved" ? ["count"] : [] },
    };
    const event = { case: "runCreated", value } as const;
    const created = create(RunEventSchema, { runId: key.run, sequence: 1, event });
    const gateway = { name: "gateway", isAlive: true, learned: "" };
    await this.log.of(gateway).append(key, emptyTail, [created], never());
    const message = create(DispatchSchema, {
      tenant: key.tenant,
      runId: key.run,
      afterSequence: 1,
    });
    this.dispatch.publish(message, `${key.run}:start`);
    return this;
  }

  /** Starts the workers and toolhosts. From now on, each act waits for its turn. */
  begin(): this {
    this.scheduler.isFree = false;
    for (let count = 1; count <= (this.#play.workers ?? 2); count++) this.work(`worker ${count}`);
    const { tool, isOneProcess, toolhosts } = this.#play;
    const hosts = toolhosts ?? (tool === undefined || isOneProcess === true ? 0 : 1);
    for (let count = 1; count <= hosts; count++) this.host(`toolhost ${count}`);
    return this;
  }

  work(name: string): void {
    const actor = this.actor(name);
    const isOneProcess = this.#play.isOneProcess === true;
    const local = isOneProcess ? new LocalCalls({ pool: "default", log: logger }) : undefined;
    if (local !== undefined) this.#serve(actor, local);
    const ports = this.#runPorts(actor, local);
    const broken = this.#breakage.worker?.(ports) ?? ports;
    const dispatch = this.dispatch.of(actor);
    const work = (drain: AbortSignal, now: AbortSignal) =>
      workRuns(dispatch, broken, concurrency, { drain, now });
    this.#workers.push(new EndingProcess(actor, work));
  }

  host(name: string): void {
    this.#serve(this.actor(name));
  }

  /** Starts a toolhost in the process of an actor. */
  #serve(actor: Actor, local?: LocalCalls): void {
    const tool = countingTool(this.scheduler, actor, this.#play, this.rules);
    const { journal, calls } = this;
    const executions = this.#executions;
    const clock = { now: () => 0, sleep: sleeping(this.scheduler, actor) };
    const [routing, breakage] = [this.#routing, this.#breakage];
    const hosts = toolhostNames(this.#play, rounds);
    const setup = { tool, clock, journal, calls, executions, routing, hosts, local, breakage };
    this.#hosts.push(playToolhost(actor, setup));
  }

  /** A gateway sweeps the run once. */
  async sweep(actor: Actor): Promise<void> {
    const ports = { log: this.log.of(actor), dispatch: this.dispatch.of(actor) };
    this.#looked = await sweepRun(ports, key, this.#looked, never());
  }

  async playOut(note: (what: string) => void): Promise<readonly string[]> {
    for (let round = 1; round <= rounds; round++) {
      if (!this.#workers.some(({ takesWork }) => takesWork)) this.work(`worker of round ${round}`);
      if (this.#play.tool !== undefined && !this.#hosts.some(({ takesWork }) => takesWork)) {
        this.host(`toolhost of round ${round}`);
      }
      for (const begin of this.rounds) begin(round);
      this.scheduler.waitsLeft = maxWaits;
      await this.untilQuiet(note);
      if (this.#breakage.isUnswept !== true) {
        note("the sweeper runs");
        const sweeping = this.sweep(this.actor(`sweeper of round ${round}`));
        sweeping.catch((error: unknown) => this.fail(error));
        await this.untilQuiet(note);
      }
    }
    return [...this.rules.atTheEnd(), ...this.failures];
  }

  #route(stream: { last: number }, mistakes: number): RoutingModel {
    const holder = `toolhost ${this.#play.toolhosts ?? 1}`;
    return new RoutingModel(this.scheduler, this.calls, { stream, holder, mistakes });
  }

  #runPorts(actor: Actor, local?: LocalCalls): RunPorts {
    const tools = [catalogFor(this.#play)];
    const provider = scriptedModel(this.scheduler, actor, this.#play);
    const models = create(ModelCatalogSchema, { providers: [provider.descriptor] });
    const dispatch = this.dispatch.of(actor);
    const calls = this.#routing?.requestsOf(actor) ?? this.calls.of(actor);
    return {
      log: this.log.of(actor),
      journal: this.journal.of(actor),
      toolCalls: async (pool) => local?.queueFor(pool, calls) ?? calls,
      catalogs: () => ({ tools, models }),
      policy: () => undefined,
      provider: () => provider,
      memory: new LongTermMemory(new MemoryTable(), () => 0),
      threads: memoryThreadLog(),
      dispatch,
      artifacts: new MemoryArtifactStore({ maxBytes: 1_000 }),
      clock: { now: () => 0, sleep: sleeping(this.scheduler, actor) },
      steadyClock: { now: () => 0 },
      standstillMs: () => 0,
      ownerFate: async () => "crashed",
      worker: actor.name,
      heartbeatMs,
      maxHeldWaitMs: Infinity,
      logger,
    };
  }
}

/** How many runs a worker drives at a time. */
const concurrency = 4;
/** The number of sweeps in a world that has settled. */
const rounds = 3;
const maxWaits = 6;
/** A queue that accepts every message and stores none. */
const discardingQueue = { publish: async () => 0 };
