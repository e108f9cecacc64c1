import { createRequire } from "node:module";
import { join } from "node:path";

/** An execution of a workflow, as Temporal shows it. */
export interface ShownWorkflow {
  /** `COMPLETED`, `RUNNING`, `CONTINUED_AS_NEW`, and so on. */
  readonly status: string;
  /** The kinds of the events of its history, such as `activityTaskScheduled`. */
  readonly history: readonly string[];
}

interface Handle {
  signal(name: string, ...args: readonly unknown[]): Promise<void>;
  cancel(): Promise<unknown>;
  terminate(): Promise<unknown>;
  fetchHistory(): Promise<{ readonly events: readonly object[] }>;
}

interface Client {
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

  private constructor(connection: { close(): Promise<void> }, client: Client) {
    this.#connection = connection;
    this.#client = client;
  }

  /** `settings`: those of a runtime. */
  static async connect(
    settings: Readonly<Record<string, string | undefined>>,
  ): Promise<TemporalOperator> {
    const load = createRequire(join(settings["REEVE_TEMPORAL_SDK"] ?? "", "package.json"));
    const { Client: TemporalClient, Connection } = load("@temporalio/client");
    const address = settings["REEVE_TEMPORAL_ADDRESS"];
    const connection = await Connection.connect({ address });
    return new TemporalOperator(connection, new TemporalClient({ connection }));
  }

  /** Returns the last execution of the workflow of a run. */
  workflow(runId: string): Handle {
    return this.#client.workflow.getHandle(runId);
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

function kindOf(event: object): string {
  const [key = ""] = Object.keys(event).filter((name) => name.endsWith("EventAttributes"));
  return key.replace("EventAttributes", "");
}
