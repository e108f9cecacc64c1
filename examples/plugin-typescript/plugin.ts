import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Answer, JsonObject, Plugin, Snapshot } from "@reeve/plugin";

/** The section `call-limit` of an agent. */
interface Section {
  readonly max_calls: number;
  /** The run is stopped after this time. */
  readonly time_limit_seconds: number;
  /** A file to which each hook adds one line. */
  readonly journal?: string;
}

function sectionOf({ section }: Pick<Snapshot, "section">): Section {
  return { max_calls: 10, time_limit_seconds: 600, ...(section as JsonObject | undefined) };
}

/**
 * An effect of the plugin's own. A hook may be repeated with the same id when its answer was lost, so that the effect has to look for the
 * id first.
 */
function record({ hookId, ...snapshot }: Pick<Snapshot, "hookId" | "section">): void {
  const { journal } = sectionOf(snapshot);
  if (journal === undefined) return;
  const before = existsSync(journal) ? readFileSync(journal, "utf8").split("\n") : [];
  if (!before.includes(hookId)) appendFileSync(journal, `${hookId}\n`);
}

/** Returns a hook that only records. */
const recorded = (snapshot: Snapshot): Answer => {
  record(snapshot);
  return {};
};

const callsKey = "call-limit.calls";

function callsIn({ state }: Pick<Snapshot, "state">): number {
  return Number(state[callsKey] ?? 0);
}

/** Limits the calls and the time of a run, and tells the model what is left. */
export default {
  id: "call-limit",
  version: "1.0.0",
  sectionSchema: {
    type: "object",
    properties: {
      max_calls: { type: "integer", minimum: 0 },
      time_limit_seconds: { type: "integer", minimum: 1 },
      journal: { type: "string" },
    },
    additionalProperties: false,
  },
  state: { [callsKey]: { merge: "sum", schema: { type: "integer", minimum: 0 } } },
  hooks: {
    runStart(snapshot) {
      record(snapshot);
      const delay = `${sectionOf(snapshot).time_limit_seconds}s` as const;
      return { actions: [{ name: "time_limit", delay }] };
    },
    stepStart: recorded,
    beforeInference(snapshot) {
      record(snapshot);
      const left = sectionOf(snapshot).max_calls - callsIn(snapshot);
      return { transform: { instructions: `You may make ${Math.max(0, left)} more calls.` } };
    },
    afterInference: recorded,
    toolGate(snapshot) {
      record(snapshot);
      const { max_calls: max } = sectionOf(snapshot);
      if (callsIn(snapshot) < max) return {};
      return { deny: { reason: `the run has made ${max} calls, which is its limit` } };
    },
    beforeTool: recorded,
    afterTool(snapshot) {
      record(snapshot);
      return { patches: [{ key: callsKey, value: 1 }] };
    },
    stepEnd: recorded,
    runEnd: recorded,
  },
  onAction(snapshot) {
    record(snapshot);
    return { stop: { reason: "its time is over" } };
  },
  tools: {
    remaining: {
      description: "Returns how many calls of tools are left.",
      permissionClass: "safe",
      idempotent: true,
      execute: (call) => String(Math.max(0, sectionOf(call).max_calls - callsIn(call))),
    },
  },
} satisfies Plugin;
