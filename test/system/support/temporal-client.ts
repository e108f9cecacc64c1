import { createRequire } from "node:module";
import { join } from "node:path";
import type { WorkflowService } from "@reeve/runtime/fail-activity";

/** An execution of a workflow, as Temporal shows it. */
export interface ShownWorkflow {
  /** `COMPLETED`, `RUNNING`, `CONTINUED_AS_NEW`, and so on. */
  readonly status: string;
  /** The kinds of the events of its history, such as `activityTaskScheduled`. */
  readonly history: readonly string[];
}

/** An event of a recorded history, as far as a test changes it. */
export interface RecordedEvent {
  readonly activityTaskScheduledEventAttributes?: { activityType: { name: string } } | null;
}

interface HistoryCodec {
  encode(history: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): { readonly events: readonly RecordedEvent[] };
}

interface Handle {
  signal(name: string, ...args: readonly unknown[]): Promise<void>;
  cancel(): Promise<unknown>;
  terminate(): Promise<unknown>;
  fetchHistory(): Promise<{ readonly events: readonly object[] }>;
}

interface StartedAttempt {
  readonly activityTaskStartedEventAttributes?: {
    readonly lastFailure?: { readonly message?: string | null } | null;
  } | null;
}

interface Client {
  readonly workflowService: WorkflowService;
  readonly workflow: {
    getHandle(workflowId: string, runId?: string): Handle;
    list(options: { readonly query: string }): AsyncIterable<{
      readonly runId: string;
      readonly status: { readonly name: string };
      readonly startTime: Date;
    }>;
  };
}

/** An operator of Temporal. */
export class TemporalOperator implements AsyncDisposable {
  readonly #connection: { close(): Promise<void> };
  readonly #client: Client;
  readonly #sdk: string;
  readonly #load: NodeJS.Require;

  private constructor(sdk: string, connection: { close(): Promise<void> }, client: Client) {
    this.#sdk = sdk;
    this.#load = loaderOf(sdk);
    this.#connection = connection;
    this.#client = client;
  }

  /** `settings`: those of a runtime. */
  static async connect(
    settings: Readonly<Record<string, string | undefined>>,
  ): Promise<TemporalOperator> {
    const sdk = settings["REEVE_TEMPORAL_SDK"] ?? "";
    const { Client: TemporalClient, Connection } = loaderOf(sdk)("@temporalio/client");
    const address = settings["REEVE_TEMPORAL_ADDRESS"];
    const connection = await Connection.connect({ address });
    return new TemporalOperator(sdk, connection, new TemporalClient({ connection }));
  }

  get service(): WorkflowService {
    return this.#client.workflowService;
  }

  /** Returns the worker that has a run in Temporal. */
  async workerOf(runId: string): Promise<string> {
    const execution = { workflowId: runId };
    const request = { namespace: "default", execution };
    const { pendingActivities } = await this.service.describeWorkflowExecution(request);
    return pendingActivities?.[0]?.lastWorkerIdentity ?? "";
  }

  /** Returns why the attempts before failed, for each attempt of a worker that the last execution of a run recorded. */
  async failures(runId: string): Promise<readonly string[]> {
    const { events } = await this.workflow(runId).fetchHistory();
    return events.flatMap((event: StartedAttempt) => {
      const message = event.activityTaskStartedEventAttributes?.lastFailure?.message;
      return message === undefined || message === null ? [] : [message];
    });
  }

  /** Returns the last execution of the workflow of a run. */
  workflow(runId: string): Handle {
    return this.#client.workflow.getHandle(runId);
  }

  /** Returns the history of the first execution of the workflow of a run, which `replay` reads. */
  async recorded(runId: string): Promise<Uint8Array> {
    const found = await Array.fromAsync(
      this.#client.workflow.list({ query: `WorkflowId = "${runId}"` }),
    );
    const [first] = found.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
    const history = await this.#client.workflow.getHandle(runId, first?.runId).fetchHistory();
    return this.#histories.encode(history).finish();
  }

  /** Replays a recorded history, after `change`, with the workflow of this version. Throws if it would now decide otherwise. */
  async replay(
    recorded: Uint8Array,
    change?: (events: readonly RecordedEvent[]) => void,
  ): Promise<void> {
    const { Worker } = this.#load("@temporalio/worker");
    const workflowBundle = { codePath: join(this.#sdk, "workflow-bundle.js") };
    const history = this.#histories.decode(recorded);
    change?.(history.events);
    await Worker.runReplayHistory({ workflowBundle }, history);
  }

  get #histories(): HistoryCodec {
    return this.#load("@temporalio/proto").temporal.api.history.v1.History;
  }

  /** Returns the executions of the workflow of a run, oldest first. Temporal lists them with a delay. */
  async executions(runId: string): Promise<readonly ShownWorkflow[]> {
    const found = await Array.fromAsync(
      this.#client.workflow.list({ query: `WorkflowId = "${runId}"` }),
    );
    const ordered = found.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
    return await Promise.all(
      ordered.map(async ({ runId: execution, status }) => {
        const { events } = await this.#client.workflow.getHandle(runId, execution).fetchHistory();
        return { status: status.name, history: events.map(kindOf) };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}

function loaderOf(sdk: string): NodeJS.Require {
  return createRequire(join(sdk, "package.json"));
}

function kindOf(event: object): string {
  const [key = ""] = Object.keys(event).filter((name) => name.endsWith("EventAttributes"));
  return key.replace("EventAttributes", "");
}
