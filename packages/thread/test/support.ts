import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { RunCreatedSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { Thread } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/log/log";
import { memoryRunLog, memoryThreadLog } from "@reeve/log/memory-log";
import { MemoryWorkQueue } from "@reeve/log/memory-queue";
import { MemoryTable } from "@reeve/store/memory-table";
import { readThread } from "../src/commit-thread.ts";
import type { ThreadPorts } from "../src/thread-ports.ts";
import type { ThreadState } from "../src/thread-state.ts";

export const never = new AbortController().signal;
export const key = { tenant: "acme", thread: "t1" };

export type EventInit = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

/** Everything that threads stand on, in memory. */
export class ThreadStage implements ThreadPorts {
  readonly threads = memoryThreadLog();
  readonly log = memoryRunLog();
  readonly dispatched: string[] = [];
  readonly threadIndex = new MemoryTable<Thread>();
  readonly dispatch: ThreadPorts["dispatch"];

  constructor() {
    const queue = new MemoryWorkQueue<Dispatch>();
    this.dispatch = {
      publish: (message, options, signal) => {
        this.dispatched.push(message.runId);
        return queue.publish(message, options, signal);
      },
    };
  }

  /** A worker takes the run and brings it to its end. */
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
    if (outcome.kind === "conflict") throw new Error(`somebody else wrote to ${runId}`);
  }

  async events(runId: string): Promise<readonly RunEvent[]> {
    const { events } = await this.log.read({ tenant: key.tenant, run: runId }, emptyTail, never);
    return events;
  }

  state(): Promise<ThreadState> {
    return readThread(this.threads, key, never);
  }
}

export function created(input: string): Any {
  const value = create(RunCreatedSchema, { tenant: key.tenant, threadId: key.thread, input });
  return anyPack(RunCreatedSchema, value);
}
