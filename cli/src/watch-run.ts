import type { Client, Run, RunEvent } from "@reeve/client";
import { EventFamily, ReeveError, RunStatus } from "@reeve/client";
import { RunEventSchema, RunStatusSchema } from "@reeve/contracts/run";
import { isAborted } from "./abort.ts";
import type { DecisionMode } from "./decisions/decide.ts";
import type { DecisionContext } from "./decisions/decision-context.ts";
import { OpenDecisions } from "./decisions/open-decisions.ts";
import type { ExitCode } from "./exit-code.ts";
import { exitCodes } from "./exit-code.ts";
import { renderApproval } from "./render/approvals/approval.ts";
import { jsonLine } from "./render/json-line.ts";
import { millisOf } from "./render/numbers.ts";
import { SilenceNotes } from "./render/silence-notes.ts";
import type { TraceState } from "./render/trace/trace-state.ts";
import { emptyTrace } from "./render/trace/trace-state.ts";
import { closeTrace, renderEvent } from "./render/trace.ts";
import type { Terminal } from "./terminal.ts";

export interface WatchOptions {
  readonly runId: string;
  /** Sequence of the last event that the user has seen; 0 means none. */
  readonly after: number;
  /** Print one event per line as JSON instead of a trace. */
  readonly json: boolean;
  /** Include records in the JSON. */
  readonly all: boolean;
  /** Who decides the approvals of the run. Default: a person at the terminal; without one or with JSON, nobody here. */
  readonly decisions?: DecisionMode;
  /** Returns what to print when watching ends before the run. Default: the command that watches the rest. */
  readonly onInterrupted?: (lastSequence: number) => string;
}

const everyFamily = Object.values(EventFamily).filter(
  (family) => family !== EventFamily.UNSPECIFIED,
);

/**
 * Prints a run until it ends, and returns the exit code for how it ended. If the user interrupts it or the connection is
 * lost for good, prints the command that continues from there. `onEvent` receives every event; records too, unless only
 * the other events are printed as JSON.
 */
export async function watchRun(
  context: DecisionContext,
  reeve: Client,
  options: WatchOptions,
  onEvent: (event: RunEvent) => Promise<void> | void = () => undefined,
): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { runId, after, json, all, onInterrupted } = options;
  const mode = options.decisions ?? (terminal.isInteractive && !json ? "ask" : undefined);
  await using decisions = mode === undefined ? undefined : new OpenDecisions(context, reeve, mode);
  const traceOptions = { ...terminal, reeve: context.reeve };
  let trace = emptyTrace;
  if (!json && after > 0) {
    trace = { ...emptyTrace, ...headerOf(await reeve.getRun(runId, context)) };
    for await (const approval of reeve.listApprovals({ runId, signal })) {
      terminal.out(renderApproval(approval, traceOptions).join("\n") + "\n");
      await decisions?.update(approval);
    }
  }
  const watch = reeve.watch(runId, {
    after,
    ...(all || !json ? { families: everyFamily } : {}),
    signal,
    onConnectionLost: ({ message }) => {
      trace = print(closeTrace(trace), terminal);
      terminal.note(`connection lost: ${message}; reconnecting …\n`);
    },
  });
  using silence = new SilenceNotes((line) => {
    trace = print(closeTrace(trace), terminal);
    terminal.note(`    ${terminal.style("dim", line)}\n`);
  });
  let lastSequence = after;
  try {
    for await (const event of watch) {
      lastSequence = event.sequence;
      if (terminal.isInteractive && !json) silence.heard(event);
      if (json) terminal.out(jsonLine(RunEventSchema, event));
      else trace = print(renderEvent(trace, event, traceOptions), terminal);
      const { approval } = event.event.case === "approval" ? event.event.value : {};
      if (approval !== undefined) await decisions?.update(approval);
      await onEvent(event);
    }
  } catch (error) {
    if (!json) print(closeTrace(trace), terminal);
    // After a refusal, watching the same again does not help.
    if (!isAborted(signal) && !(error instanceof ReeveError && error.isTransient)) throw error;
    terminal.note(
      onInterrupted?.(lastSequence) ??
        `the run continues; to watch it again, run: ${context.reeve} watch ${runId} --after ${lastSequence}\n`,
    );
    if (isAborted(signal)) return exitCodes.interrupted;
    throw error;
  }
  if (!json && lastSequence === after) {
    terminal.note(`run ${runId} has ended: ${statusName(watch.endStatus)}\n`);
  }
  if (!json && watch.endStatus === RunStatus.ERROR) {
    terminal.note(`to continue it where it failed, run: ${context.reeve} retry ${runId} --watch\n`);
  }
  return watch.endStatus === RunStatus.COMPLETED ? exitCodes.ok : exitCodes.failed;
}

function statusName(status: RunStatus): string {
  return RunStatusSchema.value[status]?.localName.toLowerCase() ?? "unknown status";
}

function print(
  { state, output }: { readonly state: TraceState; readonly output: string },
  terminal: Terminal,
): TraceState {
  if (output !== "") terminal.out(output);
  return state;
}

/** The header of a trace that begins in the middle of a run. */
function headerOf({ runId, agentId, scripted, createdAt }: Run): Partial<TraceState> {
  return {
    title: `run ${runId} · agent ${agentId}`,
    startedMs: createdAt === undefined ? undefined : millisOf(createdAt),
    source: scripted ? "scripted answers, no model is called" : undefined,
  };
}
