import { appendFileSync, existsSync, readFileSync } from "node:fs";
import process from "node:process";
import type { JsonObject, Plugin, Snapshot } from "@reeve/plugin";

/** The section `call-limit` of an agent. */
interface Section {
  readonly max_calls: number;
  /** The run is stopped after this time. */
  readonly time_limit_seconds: number;
}

function sectionOf({ section }: Pick<Snapshot, "section">): Section {
  return { max_calls: 10, time_limit_seconds: 600, ...(section as JsonObject | undefined) };
}

const callsKey = "call-limit.calls";

function callsIn({ state }: Pick<Snapshot, "state">): number {
  return Number(state[callsKey] ?? 0);
}

/**
 * An effect of the plugin's own: a line for each hook in the file that PLUGIN_JOURNAL names. A hook may be repeated with the same id when
 * its answer was lost, so the effect looks for the id first.
 */
function record({ hookId }: Snapshot): void {
  const file = process.env["PLUGIN_JOURNAL"];
  if (file === undefined) return;
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  if (!lines.includes(hookId)) appendFileSync(file, `${hookId}\n`);
}

/** Limits the calls and the time of a run, and tells the model what is left. It has a hook in every phase. */
export default {
  id: "call-limit",
  version: "1.0.0",
  sectionSchema: {
    type: "object",
    properties: {
      max_calls: { type: "integer", minimum: 0 },
      time_limit_seconds: { type: "integer", minimum: 1 },
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
    stepStart: record,
    beforeInference(snapshot) {
      record(snapshot);
      const left = sectionOf(snapshot).max_calls - callsIn(snapshot);
      return { transform: { instructions: `You may make ${Math.max(0, left)} more calls.` } };
    },
    afterInference: record,
    toolGate(snapshot) {
      record(snapshot);
      const { max_calls: max } = sectionOf(snapshot);
      // The calls of one turn are decided on together, from the same state: they may exceed the limit once.
      if (callsIn(snapshot) < max) return { patches: [{ key: callsKey, value: 1 }] };
      return { deny: { reason: `the run has made ${max} calls, which is its limit` } };
    },
    beforeTool: record,
    afterTool: record,
    stepEnd: record,
    runEnd: record,
  },
  onAction() {
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
