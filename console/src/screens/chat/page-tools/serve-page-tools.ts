import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AnswerToolCallRequestSchema,
  OfferedCall,
  OfferToolsResponse,
} from "@reeve/contracts/tool";
import { isTransient, problemOf } from "../../../api/problem.ts";
import type { PageTool } from "./page-tools.ts";

export interface PageToolPorts {
  /** Offers the tools to the run, and returns its calls. */
  readonly open: (signal: AbortSignal) => AsyncIterable<OfferToolsResponse>;
  readonly answer: (
    request: MessageInitShape<typeof AnswerToolCallRequestSchema>,
    signal: AbortSignal,
  ) => Promise<unknown>;
  /** Waits, or until the signal aborts. Does not reject. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const firstDelayMs = 250;
const maxDelayMs = 5_000;

/**
 * Executes the calls of a run for tools of the page, over lost connections, until the run has ended or the signal aborts. Returns why
 * the tools are no longer offered. Undefined: the run has ended, or the signal has aborted.
 */
export async function servePageTools(
  ports: PageToolPorts,
  clientId: string,
  tools: readonly PageTool[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const answered = new Set<string>();
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      for await (const { event } of ports.open(signal)) {
        failures = 0;
        if (event.case !== "call" || answered.has(event.value.callId)) continue;
        answered.add(event.value.callId);
        void answerCall(ports, { clientId, tools, call: event.value }, signal);
      }
    } catch (error) {
      if (signal.aborted) return undefined;
      const { reason, message } = problemOf(error);
      if (reason === "RUN_ENDED") return undefined;
      if (reason === "OFFER_REPLACED") return "another tab offers the tools of this page";
      if (!isTransient(error)) return message;
    }
    await ports.wait(Math.min(firstDelayMs * 2 ** failures, maxDelayMs), signal);
  }
  return undefined;
}

interface Answering {
  readonly clientId: string;
  readonly tools: readonly PageTool[];
  readonly call: OfferedCall;
}

/**
 * Executes a call, and sends the answer until the server has it, or refuses it for good. There is no limit on attempts: a stream that is
 * opened meanwhile repeats the call, which is not executed again.
 */
async function answerCall(
  { answer, wait }: PageToolPorts,
  { clientId, tools, call }: Answering,
  signal: AbortSignal,
): Promise<void> {
  const { runId, callId } = call;
  const request = { runId, callId, clientId, answer: executed(tools, call) };
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await answer(request, signal);
      return;
    } catch (error) {
      // What is refused for good, such as after the deadline, is in the log of the run.
      if (!isTransient(error)) return;
      await wait(Math.min(firstDelayMs * 2 ** failures, maxDelayMs), signal);
    }
  }
}

function executed(tools: readonly PageTool[], { name, arguments: args = {} }: OfferedCall) {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) {
    return { case: "error" as const, value: `the page has no tool ${name}` };
  }
  try {
    return { case: "text" as const, value: tool.execute(args) };
  } catch (error) {
    return {
      case: "error" as const,
      value: `the page could not execute ${name}: ${String(error)}`,
    };
  }
}
