import { create } from "@bufbuild/protobuf";
import type { ToolCall, ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import { ToolCallSchema, ToolProgressSchema, WorkspaceSchema } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/log/call-journal";
import type { Tail } from "@reeve/log/log";
import type { Delivery } from "@reeve/log/work-queue";
import type { HostPorts } from "./host-ports.ts";
import { journalFact, ownCall } from "./own-call.ts";
import { runTool } from "./run-tool.ts";
import type { ProgressReport } from "./tool.ts";

/** How long a call rests that the host could not handle. */
const failureDelayMs = 1_000;

/**
 * Takes one delivered call to its end in the journal: its result, or nothing more after it was cancelled. A call that is
 * delivered again is never executed twice unless its tool permits that.
 */
export async function executeCall(
  delivery: Delivery<ToolCallRequest>,
  ports: HostPorts,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, runId, call = create(ToolCallSchema) } = delivery.message;
  const key: CallKey = { tenant, run: runId, call: call.callId };
  // Delivered again although it runs here: this process was too busy, or stopped, to say that it lives. The first delivery
  // stays in charge.
  if (ports.running.has(call.callId)) return delivery.forget();
  ports.running.add(call.callId);
  const logger = ports.logger.child({ tenant, runId, callId: call.callId, tool: call.name });
  const beat = setInterval(() => delivery.extend(), ports.heartbeatMs);
  try {
    const ownership = await ownCall(ports, key, delivery.message, delivery.sequence, signal);
    if (ownership.kind === "ours") {
      await execute(key, { request: delivery.message, call, tail: ownership.tail }, ports, signal);
    }
    clearInterval(beat);
    delivery.acknowledge();
  } catch (error) {
    clearInterval(beat);
    if (!signal.aborted) logger.error({ err: error }, "call could not be handled; giving it back");
    delivery.giveBack(signal.aborted ? 0 : failureDelayMs);
  } finally {
    ports.running.delete(call.callId);
  }
}

interface OwnedCall {
  readonly request: ToolCallRequest;
  readonly call: ToolCall;
  readonly tail: Tail;
}

async function execute(
  key: CallKey,
  { request, call, tail }: OwnedCall,
  ports: HostPorts,
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  const journal = new JournalWriter(key, tail, ports, () =>
    end.abort(new DOMException("the call was cancelled", "AbortError")),
  );
  void endWhenUnwanted(key, tail, ports, end, bounded);
  const workspace = request.workspace ?? create(WorkspaceSchema, { id: request.runId });
  try {
    const result = await runTool(
      ports.tools(),
      call,
      {
        tenant: request.tenant,
        runId: request.runId,
        settings: request.settings,
        sandbox: () => ports.sandbox(request.tenant, workspace, bounded),
        progress: (report) => journal.progress(call, report),
      },
      bounded,
    );
    await journal.finish(journalFact({ case: "result", value: result }), signal);
  } catch (error) {
    // Cancelled, or taken over: the journal says so already, and nothing more is to be said.
    if (!end.signal.aborted) throw error;
  } finally {
    end.abort(new DOMException("the call is over", "AbortError"));
  }
}

async function endWhenUnwanted(
  key: CallKey,
  { sequence }: Tail,
  { journal, host }: HostPorts,
  end: AbortController,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const { events } of journal.follow(key, sequence, signal)) {
      const isOver = events.some(
        ({ fact }) =>
          fact.case === "cancelled" || (fact.case === "started" && fact.value.host !== host),
      );
      if (isOver) end.abort(new DOMException("the call is not wanted here any more", "AbortError"));
    }
  } catch {
    // Ends with the call; a journal that cannot be followed is noticed by the next append.
  }
}

/** Writes the facts of one call, in order, and notices when somebody else wrote: only a cancellation can. */
class JournalWriter {
  readonly #key: CallKey;
  readonly #ports: HostPorts;
  readonly #lost: () => void;
  #tail: Tail;
  #isLost = false;
  #latest: ToolCallFact[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;

  constructor(key: CallKey, tail: Tail, ports: HostPorts, lost: () => void) {
    this.#key = key;
    this.#tail = tail;
    this.#ports = ports;
    this.#lost = lost;
  }

  progress({ callId, name }: ToolCall, report: ProgressReport): void {
    const value = create(ToolProgressSchema, { callId, name, ...report });
    // Progress is for people: what nobody could follow is thinned, the latest is kept.
    if (this.#latest.length >= mostWaiting) this.#latest.pop();
    this.#latest.push(journalFact({ case: "progress", value }));
    if (!this.#isWriting) this.#writing = this.#drain();
  }

  /** Writes the last fact, after everything before it. */
  async finish(last: ToolCallFact, signal: AbortSignal): Promise<void> {
    await this.#writing;
    await this.#append([...this.#latest.splice(0), last], signal);
  }

  async #drain(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#latest.length > 0 && !this.#isLost) {
        await this.#append(this.#latest.splice(0), new AbortController().signal);
      }
    } catch (error) {
      this.#ports.logger.warn({ err: error, callId: this.#key.call }, "progress was not written");
    } finally {
      this.#isWriting = false;
    }
  }

  async #append(facts: readonly ToolCallFact[], signal: AbortSignal): Promise<void> {
    if (this.#isLost) return;
    const outcome = await this.#ports.journal.append(this.#key, this.#tail, facts, signal);
    if (outcome.kind === "appended") this.#tail = outcome.tail;
    else {
      this.#isLost = true;
      this.#lost();
    }
  }
}

const mostWaiting = 64;
