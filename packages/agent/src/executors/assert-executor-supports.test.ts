import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import { assertExecutorSupports } from "./assert-executor-supports.ts";
import type { Surroundings } from "./executor.ts";
import type { ExecutorName } from "./executors.ts";
import { executors } from "./executors.ts";
import { offersSandbox, offersWorkspaces } from "./offered-tools.ts";
import type { RunRequirements } from "./required-capabilities.ts";

function failureOf(required: RunRequirements, here: ExecutorName, surroundings: Surroundings = {}) {
  try {
    assertExecutorSupports(required, here, surroundings);
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error : undefined;
  }
}

const executing = create(AgentSpecSchema, { permissionClasses: ["execute"] });
const needsApproval = create(AgentSpecSchema, { hitlTools: ["run_command"] });
const everything: RunRequirements = {
  threadId: "t",
  memoryEnabled: true,
  files: [{}],
  parts: [{}],
  cancelOnDisconnect: true,
  spec: create(AgentSpecSchema, { ...executing, hitlTools: ["run_command"] }),
};

/** The tools of the deployment, on toolhosts with an isolation. */
const under = (isolation: string) => ({
  tools: offer.tools.map((catalog) => ({ ...catalog, isolation })),
});

describe("an executor", () => {
  test.each<[ExecutorName, string]>([
    ["nats", ""],
    ["nats", "nats"],
    ["local", ""],
    ["local", "local"],
    ["temporal", ""],
    ["temporal", "temporal"],
  ])("%s accepts the executor %j", (here, executor) => {
    expect(failureOf({ executor }, here)).toBeUndefined();
  });

  // Requirement: KNOW-7
  test("local refuses an agent with collections, and a run with them, by name", () => {
    const spec = create(AgentSpecSchema, { collections: ["handbook"] });
    const all: readonly (readonly [string, RunRequirements])[] = [
      ["spec.collections", { spec }],
      ["collections", { collections: ["handbook"] }],
    ];
    for (const [field, required] of all) {
      expect(failureOf(required, "local")?.violations).toMatchObject([{ field }]);
      expect(failureOf(required, "nats")).toBeUndefined();
    }
  });

  // Requirement: DUR-6, DUR-7
  test.each<[ExecutorName, string, string]>([
    [
      "nats",
      "local",
      'executor "local" is not available here: its runs are started by runAgent, in the calling process; leave it out, or name "nats"',
    ],
    [
      "local",
      "nats",
      'executor "nats" is not available here: its runs are started by StartRun of a deployment; leave it out, or name "local"',
    ],
    [
      "nats",
      "temporal",
      'executor "temporal" is not available here: its runs are started by StartRun of a deployment whose runtimes have REEVE_EXECUTOR=temporal; leave it out, or name "nats"',
    ],
    [
      "temporal",
      "nats",
      'executor "nats" is not available here: its runs are started by StartRun of a deployment; leave it out, or name "temporal"',
    ],
    [
      "local",
      "a2a",
      'executor "a2a" is not available in this version; leave it out, or name "local"',
    ],
    [
      "nats",
      "Nats",
      'executor "Nats" does not exist; the executors are nats, local, temporal, a2a; leave it out, or name "nats"',
    ],
    [
      "nats",
      "toString",
      'executor "toString" does not exist; the executors are nats, local, temporal, a2a; leave it out, or name "nats"',
    ],
  ])("%s rejects the executor %s by name", (here, executor, message) => {
    expect(failureOf({ executor }, here)).toMatchObject({
      kind: "unsupported",
      reason: ErrorReason.UNSUPPORTED_CAPABILITY,
      message,
      violations: [{ field: "executor", reason: "UNSUPPORTED_CAPABILITY" }],
      metadata: { executor },
    });
  });
});

describe("a capability", () => {
  // Requirement: DUR-6
  test("that an executor lacks is rejected with the field that requires it, all at once, and the same each time", () => {
    const failure = failureOf(everything, "local");
    expect(failure?.violations.map(({ field }) => field)).toEqual([
      "thread_id",
      "memory_enabled",
      "files",
      "parts",
      "cancel_on_disconnect",
      "hitl_tools",
      "permission_classes",
    ]);
    expect(failure?.message).toContain(
      'thread_id needs threads, which the executor "local" does not have here: leave it out, or start the run on a deployment',
    );
    expect(failureOf(everything, "local")).toEqual(failure);
  });

  // Requirement: DUR-6, DUR-7
  test.each<ExecutorName>(["nats", "temporal"])(
    "that the toolhosts of a deployment decide is computed from what they offer: %s",
    (here) => {
      const needed: RunRequirements = { files: [{}], spec: executing };
      const fieldsOf = (surroundings: Surroundings) =>
        failureOf(needed, here, surroundings)?.violations.map(({ field }) => field) ?? [];
      expect(fieldsOf({ tools: offer.tools })).toEqual([]);
      expect(fieldsOf({})).toEqual([]);
      expect(fieldsOf(under("files-only"))).toEqual(["permission_classes"]);
      expect(fieldsOf({ tools: [] })).toEqual(["files", "permission_classes"]);
      expect(failureOf({ spec: executing }, here, { tools: [] })?.message).toBe(
        `permission_classes needs sandbox, which the executor "${here}" does not have here: no toolhost offers an isolating sandbox; start one that has bubblewrap`,
      );
    },
  );

  test("that the calling process provides is accepted there", () => {
    expect(failureOf({ spec: needsApproval }, "local")).toBeInstanceOf(Failure);
    expect(failureOf({ spec: needsApproval }, "local", { isDecided: true })).toBeUndefined();
    expect(failureOf({ spec: executing }, "local", { tools: offer.tools })).toBeUndefined();
  });
});

test("each executor has a name of its own", () => {
  const names = executors.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test("a sandbox is offered by toolhosts that isolate and have tools that execute code", () => {
  const { tools } = offer;
  expect(offersSandbox(tools)).toBe(true);
  for (const isolation of ["none", "files-only"]) {
    expect(offersSandbox(tools.map((catalog) => ({ ...catalog, isolation })))).toBe(false);
  }
  expect(offersSandbox(tools.map((catalog) => ({ ...catalog, tools: [] })))).toBe(false);
  expect(offersSandbox([])).toBe(false);
});

test("workspaces are offered by toolhosts with file tools, whether or not they execute code", () => {
  const { tools } = offer;
  expect(offersWorkspaces(tools)).toBe(true);
  const under = (isolation: string) => tools.map((catalog) => ({ ...catalog, isolation }));
  expect(offersWorkspaces(under("files-only"))).toBe(true);
  expect(offersWorkspaces(under("none"))).toBe(false);
  expect(offersWorkspaces([])).toBe(false);
});
