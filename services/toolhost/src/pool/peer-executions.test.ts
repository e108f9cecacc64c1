import type { ExecutionState } from "@reeve/calls/ports/executions";
import type { ProbeOutcome } from "@reeve/jetstream/queue/nats-host-probes";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { HastyClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import { PeerExecutions } from "./peer-executions.ts";

interface Situation {
  /** What the probes of the host find, one after the other. */
  readonly probes: readonly ProbeOutcome[];
  readonly isAbsent?: boolean;
  readonly connectedMs?: number;
  readonly host?: string;
}

/** Returns what this host, `me`, says about the execution of a call on another one. */
async function stateIn(given: Situation): Promise<ExecutionState> {
  const { isAbsent = false, connectedMs = 60_000, host = "other" } = given;
  const probes = [...given.probes];
  const executions = new PeerExecutions({
    own: { stateOf: async () => "running" },
    host: "me",
    probe: async () => {
      const next = probes.shift();
      if (next === undefined) throw new Error("the host was asked once more");
      return next;
    },
    isAbsent: async () => isAbsent,
    connectedMs: () => connectedMs,
    clock: new HastyClock(),
  });
  const key = { tenant: "acme", run: "run_1", call: "run_1-2-0" };
  return await executions.stateOf({ key, host, askedFor: 7 }, neverAborts);
}

describe("the call of a host", () => {
  // Requirement: DUR-3
  test.each<[string, Situation, ExecutionState]>([
    ["that executes it is running", { probes: ["running"] }, "running"],
    ["that answers but does not have it is lost", { probes: ["absent"] }, "lost"],
    ["of an earlier version, which answers, is unknown", { probes: ["answered"] }, "unknown"],
    ["without a listener is lost", { probes: ["no_listener", "no_listener"] }, "lost"],
    ["that has a listener again is running", { probes: ["no_listener", "running"] }, "running"],
    ["that is frozen is unknown", { probes: ["no_answer"] }, "unknown"],
    [
      "that is frozen for longer than a presence lives is lost",
      { probes: ["no_answer", "no_answer"], isAbsent: true },
      "lost",
    ],
    [
      "that answers late, after its presence has expired, is running",
      { probes: ["no_answer", "running"], isAbsent: true },
      "running",
    ],
    [
      "without a listener is unknown to a host that has just reconnected",
      { probes: ["no_listener"], connectedMs: 1_000 },
      "unknown",
    ],
    [
      "that is silent is unknown to a host that reconnected a few seconds ago",
      { probes: ["no_answer"], isAbsent: true, connectedMs: 9_000 },
      "unknown",
    ],
    ["that asks is what it knows itself", { probes: [], host: "me" }, "running"],
  ])("%s", async (_, given, state) => {
    expect(await stateIn(given)).toBe(state);
  });
});
