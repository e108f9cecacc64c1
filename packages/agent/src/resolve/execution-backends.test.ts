import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import type { RunRequirements, BackendName, Capability } from "./execution-backends.ts";
import { offersSandbox, offersWorkspaces, assertBackendSupports } from "./execution-backends.ts";

function failureOf(required: RunRequirements, here: BackendName, ...provided: Capability[]) {
  try {
    assertBackendSupports(required, here, new Set(provided));
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

describe("an executor", () => {
  test.each<[BackendName, string]>([
    ["nats", ""],
    ["nats", "nats"],
    ["local", ""],
    ["local", "local"],
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
  test.each<[BackendName, string, string]>([
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
      'executor "temporal" is not available in this version; leave it out, or name "nats"',
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
  test("that a backend lacks is rejected with the field that requires it, all at once, and the same each time", () => {
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

  test("that a deployment has is accepted there", () => {
    expect(failureOf(everything, "nats", "sandbox", "files")).toBeUndefined();
  });

  test("that needs an isolating toolhost is rejected by a deployment without one", () => {
    const failure = failureOf({ files: [{}], spec: executing }, "nats");
    expect(failure?.violations.map(({ field }) => field)).toEqual(["files", "permission_classes"]);
  });

  test("that the deployment provides is accepted", () => {
    expect(failureOf({ spec: needsApproval }, "local")).toBeInstanceOf(Failure);
    expect(failureOf({ spec: needsApproval }, "local", "approvals")).toBeUndefined();
    expect(failureOf({ spec: executing }, "nats")?.message).toBe(
      'permission_classes needs sandbox, which the executor "nats" does not have here: no toolhost offers an isolating sandbox; start one that has bubblewrap',
    );
    expect(failureOf({ spec: executing }, "nats", "sandbox")).toBeUndefined();
  });
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
