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

/** Limits the calls and the time of a run, and tells the model what is left. */
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
      const delay = `${sectionOf(snapshot).time_limit_seconds}s` as const;
      return { actions: [{ name: "time_limit", delay }] };
    },
    beforeInference(snapshot) {
      const left = sectionOf(snapshot).max_calls - callsIn(snapshot);
      return { transform: { instructions: `You may make ${Math.max(0, left)} more calls.` } };
    },
    toolGate(snapshot) {
      const { max_calls: max } = sectionOf(snapshot);
      // The calls of one turn are decided on together, from the same state: they may exceed the limit once.
      if (callsIn(snapshot) < max) return { patches: [{ key: callsKey, value: 1 }] };
      return { deny: { reason: `the run has made ${max} calls, which is its limit` } };
    },
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
