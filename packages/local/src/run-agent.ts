import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Run, RunCreatedSchema, RunEvent, StartRunRequestSchema } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema, SendMessageRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { onAbort } from "@reeve/platform/async/on-abort";
import { appendExternal } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { isTerminal } from "@reeve/run/head/run-status";
import { assertInboxRoom, assertNotBlank } from "@reeve/run/commands/message-limits";
import type { RunHead } from "@reeve/run/head/run-head";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { assertValid } from "@reeve/platform/strict/assert-valid";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import type { AgentInit } from "./agent-init.ts";
import { checkRun } from "./check-run.ts";
import type { Decide } from "./decide-approvals.ts";
import { declineAll, decideApprovals } from "./decide-approvals.ts";
import type { LocalParts } from "./local-runtime.ts";
import { LocalRuntime } from "./local-runtime.ts";

export interface RunAgentOptions extends LocalParts {
  /** Cancels the run when it aborts. */
  readonly signal: AbortSignal;
  /** The agents that `delegates` of the agent, and of these agents, may name. */
  readonly agents?: readonly AgentInit[];
  /**
   * Decides the approvals of the run, and answers the questions of tools. Without it, an agent with `hitl_tools` is refused,
   * and questions are declined.
   */
  readonly decide?: Decide;
  /** Further fields of the start of a run. Fields that need a deployment are refused by name. */
  readonly created?: Omit<
    MessageInitShape<typeof StartRunRequestSchema>,
    "agentId" | "input" | "requestId" | "executor"
  >;
  /** The execution backend. Only `local`, the default, is accepted; any other is refused by name. */
  readonly executor?: string;
}

/** A run in this process. */
export interface LocalRun {
  /**
   * Yields all events, including records, up to the terminal one. Each iteration begins with the first event. Throws if this
   * process cannot drive the run.
   */
  events(): AsyncIterable<RunEvent>;
  /** Sends a message to the run. Resolves when the message is in the log. Rejects with a Failure if the run has ended. */
  send(text: string): Promise<void>;
  /** The run after its end, with any status. Rejects only if this process cannot drive the run. */
  readonly ended: Promise<Run>;
  /** Possible mistakes in the agent's spec that did not prevent the run from starting. */
  readonly warnings: readonly string[];
}

const tenant = "local";

/**
 * Runs an agent in this process, with its log in memory. The loop, the events, and the final statuses are the same as in a
 * deployment, and so are the checks of the spec and the request. Throws a Failure for what they refuse, and for fields that need
 * a deployment, such as threads and long-term memory. The run does not survive the end of the process.
 */
export function runAgent(
  spec: AgentInit,
  input: string,
  { signal, decide, created, agents = [], executor = "local", ...parts }: RunAgentOptions,
): LocalRun {
  const runtime = new LocalRuntime(parts);
  const isDecided = decide !== undefined;
  const given = { spec, input, executor, created, delegates: agents, isDecided };
  const offered = runtime.ports.catalogs();
  const { spec: agent, request, delegates, warnings } = checkRun(given, offered);
  const key: RunKey = { tenant, run: `run_${randomUUID().replaceAll("-", "")}` };
  const ended = driveRun(runtime, key, {
    value: {
      tenant,
      agentId: agent.id,
      spec: agent,
      delegates: [...delegates],
      input,
      messages: request.messages,
      labels: request.labels,
      ...(request.chatContext && { chatContext: request.chatContext }),
      ...(request.outputSchema && { outputSchema: request.outputSchema }),
      startedBy: "local",
      agentAuthor: "local",
      // The run joins the caller's trace, if there is one.
      traceparent: traceparentOf(),
    },
    decide,
    signal,
  });
  const broken = new AbortController();
  // A caller that only reads the events must not crash by an unhandled rejection.
  ended.catch((error: unknown) => broken.abort(error));
  return {
    ended,
    warnings,
    events: () => eventsOf(runtime, key, broken.signal),
    async send(text) {
      const sent = create(SendMessageRequestSchema, { runId: key.run, text });
      assertValid(SendMessageRequestSchema, sent);
      assertNotBlank(key.run, text);
      const message = { role: Role.USER, text };
      const value = { messageId: randomUUID(), message, submittedBy: "local" };
      const submitted = { case: "messageSubmitted", value } as const;
      const decided = (head: RunHead) => {
        assertInboxRoom(head, { text, parts: [] });
        return [submitted];
      };
      await appendExternal(runtime.ports, key, decided, broken.signal);
    },
  };
}

interface DriveOptions {
  readonly value: MessageInitShape<typeof RunCreatedSchema>;
  readonly decide: Decide | undefined;
  readonly signal: AbortSignal;
}

async function driveRun(
  runtime: LocalRuntime,
  key: RunKey,
  { value, decide, signal }: DriveOptions,
): Promise<Run> {
  const event = { case: "runCreated", value } as const;
  const first = create(RunEventSchema, {
    runId: key.run,
    sequence: 1,
    time: timestampNow(),
    event,
  });
  await runtime.ports.log.append(key, emptyTail, [first], runtime.signal);
  await using work = runtime.start();
  const cancel = () => void runtime.cancel(key).catch(work.fail);
  using _ = onAbort(signal, cancel);
  decideApprovals(runtime.ports, key, decide ?? declineAll, runtime.signal).catch(work.fail);
  const message = create(DispatchSchema, { tenant, runId: key.run, afterSequence: 1 });
  await runtime.ports.dispatch.publish(message, { dedupeId: key.run }, runtime.signal);
  return await Promise.race([endOf(runtime, key), work.failed]);
}

async function endOf({ ports, signal }: LocalRuntime, key: RunKey): Promise<Run> {
  let head = emptyHead;
  for await (const { events } of ports.log.follow(key, 0, signal)) {
    head = foldHead(head, events);
    if (isTerminal(head.status)) return runOf(head);
  }
  throw new Error(`the log of ${key.run} ended before the run`);
}

/** Throws the reason of `broken` when it aborts. Not of the runtime's signal: a cancelled run is read up to its last event. */
async function* eventsOf(
  { ports }: LocalRuntime,
  key: RunKey,
  broken: AbortSignal,
): AsyncIterable<RunEvent> {
  let head = emptyHead;
  const end = new AbortController();
  const until = AbortSignal.any([broken, end.signal]);
  try {
    for await (const { events } of ports.log.follow(key, 0, until)) {
      for (const event of events) {
        head = foldHead(head, [event]);
        yield event;
        if (isTerminal(head.status)) return;
      }
    }
  } finally {
    end.abort();
  }
}
