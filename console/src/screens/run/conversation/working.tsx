import { isTerminal } from "../../../format/names.ts";
import type { RunModel } from "../../../run/run-model.ts";

interface WorkingProps {
  readonly run: RunModel;
  /** Whether the run waits for a person. */
  readonly isWaiting: boolean;
}

/** What a run does now, in one line. */
export function Working({ run, isWaiting }: WorkingProps) {
  if (isTerminal(run.status) || isWaiting) return null;
  const open = [...run.openSpans.values()];
  const clients = open.filter(({ kind }) => kind === "client");
  const tools = open.filter(({ kind }) => kind === "tool").map(({ label }) => label);
  const text =
    tools.length > 0
      ? `Running ${[...new Set(tools)].join(", ")}`
      : open.some(({ kind }) => kind === "model")
        ? "The model answers"
        : clients.length > 0
          ? "Waiting for a client"
          : run.events.length === 0
            ? "Connecting"
            : "Waiting for a worker";
  return (
    <p className="working" role="status">
      <span className="pulse" aria-hidden="true" />
      {text} …
    </p>
  );
}
