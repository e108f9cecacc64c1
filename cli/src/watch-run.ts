import type { Run } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, RunStatusSchema } from "@reeve/contracts/run";
import type { RunEvent } from "@reeve/contracts/run";
import { isAborted } from "./aborted.ts";
import type { BackOff } from "./back-off.ts";
import type { Cli } from "./cli.ts";
import type { Reeve } from "./client.ts";
import type { ExitCode } from "./exit-code.ts";
import { exitCodes } from "./exit-code.ts";
import { followRun } from "./follow-run.ts";
import { jsonLine } from "./json-line.ts";
import { closeTrace, renderEvent } from "./render/trace.ts";
import type { TraceState } from "./render/trace-state.ts";
import { emptyTrace } from "./render/trace-state.ts";
import type { Terminal } from "./terminal.ts";

export interface WatchOptions {
  readonly runId: string;
  /** The last sequence that was seen; 0: from the beginning. */
  readonly after: number;
  /** One event a line instead of a trace. */
  readonly json: boolean;
  /** Whether records are part of the JSON too. */
  readonly all: boolean;
  readonly backOff: BackOff;
}

/**
 * Shows a run until it ends, and says by the exit code how it ended. Interrupted, or given up by the connection, it prints
 * the command that goes on from here. `onEvent` sees every event, records included when they are asked for.
 */
export async function watchRun(
  cli: Pick<Cli, "terminal" | "signal">,
  reeve: Pick<Reeve, "runs">,
  options: WatchOptions,
  onEvent: (event: RunEvent) => Promise<void> | void = () => undefined,
): Promise<ExitCode> {
  const { runId, json, all, backOff } = options;
  const { terminal, signal } = cli;
  let trace = json ? emptyTrace : await traceFrom(reeve, options, signal);
  let after = options.after;
  let code: ExitCode = exitCodes.failed;
  const follow = { runId, after, records: all || !json, backOff };
  try {
    for await (const followed of followRun(reeve.runs, follow, signal)) {
      if (followed.kind === "lost") {
        trace = show(closeTrace(trace), terminal);
        terminal.note(`connection lost (${followed.failure.message}); going on …\n`);
        continue;
      }
      if (followed.kind === "ended") {
        if (!json) terminal.note(`the run ended before: ${nameOf(followed.status)}\n`);
        return exitCodeAt(followed.status);
      }
      const { event } = followed;
      after = event.sequence;
      if (json) terminal.out(jsonLine(RunEventSchema, event));
      else trace = show(renderEvent(trace, event, terminal), terminal);
      if (event.event.case === "status") code = exitCodeAt(event.event.value.status);
      await onEvent(event);
    }
    return code;
  } catch (error) {
    if (!json) show(closeTrace(trace), terminal);
    terminal.note(
      `the run goes on without you; watch on with: reeve watch ${runId} --after ${after}\n`,
    );
    if (isAborted(signal)) return exitCodes.interrupted;
    throw error;
  }
}

function nameOf(status: RunStatus): string {
  return RunStatusSchema.value[status]?.localName.toLowerCase() ?? "in a way that is not known";
}

function exitCodeAt(status: RunStatus): ExitCode {
  return status === RunStatus.COMPLETED ? exitCodes.ok : exitCodes.failed;
}

function show(
  { state, output }: { readonly state: TraceState; readonly output: string },
  terminal: Terminal,
): TraceState {
  if (output !== "") terminal.out(output);
  return state;
}

/** The state from which a trace goes on: one that begins in the middle asks who answers. */
async function traceFrom(
  reeve: Pick<Reeve, "runs">,
  { runId, after }: WatchOptions,
  signal: AbortSignal,
): Promise<TraceState> {
  if (after === 0) return emptyTrace;
  const { run } = await reeve.runs.getRun({ runId }, { signal });
  return run === undefined ? emptyTrace : { ...emptyTrace, ...headOf(run) };
}

function headOf(run: Run): Partial<TraceState> {
  return {
    title: `run ${run.runId} · agent ${run.agentId}`,
    answering: run.scripted ? "scripted answers, no model is called" : undefined,
  };
}
