import type { Dispatch } from "@reeve/contracts/run";
import type { Delivery } from "@reeve/jetstream/queue/port";
import { Mailbox } from "@reeve/platform/async/coordination/mailbox";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { CarriedRuns, RuntimePorts } from "../port.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { installRuntime } from "./install-runtime.ts";
import { failActivity } from "./fail-activity.ts";
import type { DispatchRelay } from "./relay-dispatches.ts";
import { relayDispatches } from "./relay-dispatches.ts";
import type { LostRunRelease } from "./release-lost-runs.ts";
import { releaseLostRuns } from "./release-lost-runs.ts";
import { runActivities } from "./run-activities.ts";
import type {
  TemporalClient,
  TemporalConnection,
  TemporalConnectionOptions,
  TemporalSdk,
  TemporalWorker,
} from "./sdk.ts";
import { untilConnected } from "./until-connected.ts";

/** The name of the workflow. One that cannot replay the histories of this one gets another name. */
const workflowType = "reeveRun";
/** Time limit for a request to Temporal. */
const requestMs = 10_000;
/** For how long the end of a drain may wait for Temporal to hear of it. */
const reportMs = 5_000;
/** Histories are short: another worker replays one quickly. */
const stickyMs = 1_000;
/** The default, by memory, would hold hundreds of workflows, each of which only waits. */
const maxCachedWorkflows = 200;

export interface TemporalOptions {
  readonly connection: TemporalConnectionOptions;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly heartbeats: Heartbeats;
  /** The time that runs have when this worker drains. */
  readonly drainMs: number;
}

/**
 * The runs that Temporal gives to this worker. A workflow for each run, with the id of the run, asks for an owner whenever the run
 * was dispatched, until the run has ended.
 */
export class TemporalRuns implements CarriedRuns {
  readonly #sdk: TemporalSdk;
  readonly #options: TemporalOptions;
  readonly #ports: RuntimePorts;

  constructor(sdk: TemporalSdk, options: TemporalOptions, ports: RuntimePorts) {
    this.#sdk = sdk;
    this.#options = options;
    this.#ports = ports;
  }

  async *take(permits: number | Semaphore, signal: AbortSignal): AsyncIterable<Delivery<Dispatch>> {
    const { logger, dispatch: queue, heartbeatMs, holder, ownerFate } = this.#ports;
    const { address } = this.#options.connection;
    installRuntime(this.#sdk, logger);
    await using resources = new AsyncDisposableStack();
    const connect = () => this.#sdk.worker.NativeConnection.connect(this.#options.connection);
    const connection = await untilConnected(connect, { address, log: logger }, signal);
    resources.defer(() => connection.close());
    const offered = new Mailbox<Delivery<Dispatch>>(Infinity);
    const worker = await this.#createWorker(connection, permits, (run) => offered.post(run));
    const failed = new AbortController();
    const fail = (error: unknown) => failed.abort(error);
    const working = AbortSignal.any([signal, failed.signal]);
    resources.use(runWorker(worker, fail));
    const client = new this.#sdk.client.Client({
      connection,
      namespace: this.#options.namespace,
    });
    const relaying = relayDispatches(
      { queue, heartbeatMs, log: logger, send: this.#sender(client) },
      working,
    ).catch(fail);
    resources.defer(() => relaying);
    const release = this.#releaser(client);
    const releasing = releaseLostRuns({ holder, ownerFate, log: logger, release }, working).catch(
      fail,
    );
    resources.defer(() => releasing);
    // Before the end of the worker, which waits for these runs.
    resources.defer(() => {
      offered[Symbol.dispose]();
      for (const delivery of offered.drain()) delivery.returnToQueue(0);
    });
    logger.info({ address, taskQueue: this.#options.taskQueue }, "Temporal gives runs");
    for (;;) yield* await offered.take(working);
  }

  async #createWorker(
    connection: TemporalConnection,
    permits: number | Semaphore,
    offer: (delivery: Delivery<Dispatch>) => boolean,
  ): Promise<TemporalWorker> {
    const { namespace, taskQueue, drainMs, heartbeats } = this.#options;
    const { Context } = this.#sdk.activity;
    const activities = runActivities({
      ports: this.#ports,
      heartbeats,
      context: () => Context.current(),
      offer,
    });
    return await this.#sdk.worker.Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      identity: this.#ports.worker,
      workflowBundle: { codePath: this.#sdk.workflowBundle },
      ...(typeof permits === "number" && { maxConcurrentActivityTaskExecutions: permits }),
      maxCachedWorkflows,
      // For that long a workflow waits for the worker that has it in its cache, and may be dead.
      stickyQueueScheduleToStartTimeout: stickyMs,
      // Each heartbeat reaches Temporal, as the time-out assumes.
      maxHeartbeatThrottleInterval: heartbeats.intervalMs,
      defaultHeartbeatThrottleInterval: heartbeats.intervalMs,
      // Runs learn of the drain from this service, and are left in order.
      shutdownGraceTime: drainMs + reportMs,
      shutdownForceTime: drainMs + 2 * reportMs,
    });
  }

  #sender(client: TemporalClient): DispatchRelay["send"] {
    const { taskQueue, heartbeats } = this.#options;
    const heartbeatTimeoutMs = heartbeats.timeoutMs;
    return async ({ tenant, runId: run }, dispatch) => {
      const request = () =>
        client.workflow.signalWithStart(workflowType, {
          workflowId: run,
          taskQueue,
          args: [{ tenant, run, attempts: 0 }, { heartbeatTimeoutMs }],
          signal: "dispatched",
          signalArgs: [dispatch],
          memo: { tenant },
        });
      await client.withDeadline(Date.now() + requestMs, request);
    };
  }

  #releaser(client: TemporalClient): LostRunRelease["release"] {
    const { namespace } = this.#options;
    return async (lost) => {
      const request = () => failActivity(client.workflowService, namespace, lost);
      await client.withDeadline(Date.now() + requestMs, request);
    };
  }
}

/** Runs a worker until the returned object is disposed, which waits for its activities. Calls `onEnd` if it ends before. */
function runWorker(worker: TemporalWorker, onEnd: (error: unknown) => void): AsyncDisposable {
  const ended = worker.run().catch(onEnd);
  return {
    async [Symbol.asyncDispose]() {
      if (worker.getState() === "RUNNING") worker.shutdown();
      await ended;
    },
  };
}
