import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { GuardActionSchema } from "@reeve/contracts/run";
import { ResultExtent, ToolResultSchema } from "@reeve/contracts/tool";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { toolResultFact } from "../../domain/calls/tool-result.ts";
import { phasesOf } from "../../domain/guardrails/guards-at.ts";
import { nextEffects } from "../../domain/next-effects.ts";
import { scopeOf } from "../../domain/state/frame.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { retrieveArtifact } from "../runtime-tools/retrieve-artifact.ts";
import { guardHook } from "./guard-hook.ts";

const never = new AbortController().signal;

/** A guard looks at a result of which the log has the first three bytes. Returns what it said, and what a model can read of the whole. */
async function afterGuards(content: string, action: string) {
  const artifacts = new MemoryArtifactStore({ maxBytes: 2_000_000 });
  const ports = { artifacts, logger: createLogger("test", "silent") } as unknown as RunPorts;
  const list = [{ name: "g", tools: ["search"], literals: ["secret"], on: "result", action }];
  const guards = {
    plugin: { pluginDescriptor: { id: "guardrails", phases: phasesOf(new Set(["result"])) } },
    guardrails: { sections: [{ section: fromJson(ValueSchema, { tools: list }) }] },
  };
  const tools = [{ name: "search", source: "builtin" }];
  const run = new PlayedRun({}, { tools, plugins: [guards], created: { tenant: "acme" } });
  async function* bytes() {
    yield Buffer.from(content);
  }
  const { runId } = run.state.head;
  const draft = { name: "r.txt", mediaType: "text/plain", runId };
  const { artifactId } = await artifacts.put("acme", draft, bytes(), never);
  run.turn({ name: "search", args: {} });
  const [call] = run.frame().calls;
  if (call === undefined) throw new Error("nothing was called");
  const { callId, name } = call.call;
  const metadata = { offloadedArtifactId: artifactId, extent: ResultExtent.PART };
  const result = create(ToolResultSchema, {
    callId,
    name,
    content: content.slice(0, 3),
    metadata,
  });
  run.append([toolResultFact(call, scopeOf(run.frame()), result, run.nowMs)]);
  const hook = nextEffects(run.state).find((effect) => effect.kind === "run_hook");
  if (hook?.due.point === undefined) throw new Error("no guard looks at the result");
  const outcome = await guardHook(run.state, hook.due.point, ports, never);
  const { guards: verdicts = [], checkedWhole } = outcome;
  run.hookEnds(hook, outcome.answer, outcome.error, verdicts, checkedWhole);
  const args = { artifact_id: artifactId };
  const retrieved = await retrieveArtifact(run.state, args, ports, never);
  const actions = verdicts.map((each) => GuardActionSchema.value[each.action]?.localName);
  return { actions, redactions: verdicts.flatMap((each) => each.redactions), retrieved };
}

// Requirement: RES-13
test.each(["refuse", "redact"])(
  "guards of results (%s) look at the whole of a result of which the log has a part",
  async (action) => {
    const harmless = await afterGuards("x".repeat(5_000), action);
    expect(harmless.actions).toEqual(["PASS"]);
    expect(harmless.retrieved).toMatchObject({ isError: false });
    const { actions, redactions, retrieved } = await afterGuards(
      `${"x".repeat(5_000)}${" secret".repeat(100)}`,
      action,
    );
    expect(actions).toEqual([action.toUpperCase()]);
    expect(redactions.length).toBeLessThanOrEqual(1);
    expect(retrieved.isError).toBe(true);
    expect(retrieved.content).not.toContain("secret");
  },
);

// Requirement: RES-13
test("of a result that is too large for its guards, only the part that they checked is read", async () => {
  const { actions, retrieved } = await afterGuards("x".repeat(600_000), "refuse");
  expect(actions).toEqual(["PASS"]);
  expect(retrieved.isError).toBe(true);
});
