import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import type { RunAgentOptions } from "./run-agent.ts";
import { runAgent } from "./run-agent.ts";

const never = new AbortController().signal;
const approving = () => Promise.resolve({ approved: true });
const script = "turns: [{ text: Hello there. }]";

function run(
  spec: MessageInitShape<typeof AgentSpecSchema>,
  options: Partial<RunAgentOptions> = {},
) {
  const providers = [scriptedProvider([parseScript(script, "hello.yaml")])];
  const agent = { id: "a", name: "a", model: "scripted:hello", ...spec };
  return runAgent(agent, "go", { providers, signal: never, ...options });
}

/** Returns the fields for which a run is refused. */
function refusedFields(...args: Parameters<typeof run>): readonly string[] {
  try {
    run(...args);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind !== "unsupported" || error.reason !== ErrorReason.UNSUPPORTED_CAPABILITY) {
      throw error;
    }
    return error.violations.map(({ field }) => field);
  }
  throw new Error("the run was accepted");
}

test("an agent runs to its end in this process", async () => {
  const ended = await run({}, { executor: "local" }).ended;
  expect(ended).toMatchObject({ status: RunStatus.COMPLETED, output: "Hello there." });
});

// Requirement: DUR-6, DUR-7
test("fields that need a deployment, a person, or a sandbox are refused by name before the run starts", () => {
  const created = {
    threadId: "t",
    memoryEnabled: true,
    files: [{ path: "data.csv", artifactId: `art_${"a".repeat(16)}` }],
    cancelOnDisconnect: true,
  };
  expect(refusedFields({}, { created })).toEqual([
    "thread_id",
    "memory_enabled",
    "files",
    "cancel_on_disconnect",
  ]);
  expect(refusedFields({ hitlTools: ["add_todo"] })).toEqual(["hitl_tools"]);
  expect(refusedFields({ permissionClasses: ["execute"] })).toEqual(["permission_classes"]);
  for (const executor of ["nats", "temporal", "a2a", "cloud"]) {
    expect(refusedFields({}, { executor })).toEqual(["executor"]);
  }
});

test("a run with a `decide` function accepts approvals", async () => {
  const { status } = await run({ hitlTools: ["add_todo"] }, { decide: approving }).ended;
  expect(status).toBe(RunStatus.COMPLETED);
});

// Requirement: RES-9
test("a run has the warnings of the validation", async () => {
  const { warnings, ended } = run({ excludedTools: ["gone"] });
  expect(warnings).toEqual([expect.stringMatching(/^excluded_tools\[0\]: the tool "gone"/)]);
  await ended;
});
