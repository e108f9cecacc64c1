import type { OfferToolsResponse } from "#contracts/tool";
import type { Services } from "../connection.ts";
import { ReeveError } from "../reeve-error.ts";
import type { Requests } from "../requests.ts";
import type { LiveOptions } from "../watch/live-stream.ts";
import { liveStream } from "../watch/live-stream.ts";
import type { ClientTool } from "./client-tool.ts";
import { manifestOf } from "./client-tool.ts";
import { Executions } from "./executions.ts";

/** To what tools are offered, and as which client. */
export interface ServeToolsOptions extends LiveOptions {
  /** The thread whose runs get the tools from now on. */
  readonly threadId?: string;
  /** The run that was started with the same tools as `clientTools`. */
  readonly runId?: string;
  /** Id of this client, unique for each process, and the same when it continues after a crash. */
  readonly clientId: string;
  /** Called for each connection once the tools are offered, with what the target does not have of them. */
  readonly onReady?: (warnings: readonly string[]) => void;
}

/**
 * Offers tools and executes their calls, over any number of lost connections, until the run has ended or the signal aborts. Executes
 * each call once: an answer that did not reach the server is sent again. If the server refuses the tools for good, rejects once the answers
 * that it lacks were sent, after `requestTimeoutMs` at the latest.
 */
export async function serveTools(
  requests: Requests,
  tools: readonly ClientTool[],
  options: ServeToolsOptions,
): Promise<void> {
  const { threadId = "", runId = "", clientId } = options;
  const target =
    runId === ""
      ? { case: "threadId" as const, value: threadId }
      : { case: "runId" as const, value: runId };
  const request = { target, manifest: manifestOf(clientId, tools) };
  const stream = {
    name: runId === "" ? `tools of thread ${threadId}` : `tools of run ${runId}`,
    open: ({ clientTools }: Services, call: { readonly signal: AbortSignal }) =>
      clientTools.offerTools(request, call),
    isOpening: ({ event }: OfferToolsResponse) => event.case === "ready",
    isPassing: ({ reason }: ReeveError) => passing.has(reason),
  };
  const executions = new Executions(requests, tools, clientId);
  try {
    for await (const { event } of liveStream(requests, stream, requests.settings, options)) {
      if (event.case === "ready") options.onReady?.(event.value.warnings);
      if (event.case === "call") executions.receive(event.value);
      if (event.case === "closed") executions.close(event.value);
    }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    if (error.reason === "RUN_ENDED") return;
    await executions.finish(requests.settings.requestTimeoutMs, options.signal);
    throw error;
  } finally {
    executions.closeAll();
  }
}

/** The server has no room now: for anything, or for another client. Calls that were received can still be answered. */
const passing: ReadonlySet<string> = new Set(["STORAGE_FULL", "TOO_MANY_CLIENTS"]);
