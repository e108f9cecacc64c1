import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import type { RunRequirements, BackendName, Capability } from "./execution-backends.ts";
import { offersSandbox, offersWorkspaces, assertBackendSupports } from "./execution-backends.ts";

function refusalOf(asked: RunRequirements, here: BackendName, ...brought: Capability[]) {
  try {
    assertBackendSupports(asked, here, new Set(brought));
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error : undefined;
  }
}

const executing = create(AgentSpecSchema, { permissionClasses: ["execute"] });
const asking = create(AgentSpecSchema, { hitlTools: ["run_command"] });
const everything: RunRequirements = {
  threadId: "t",
  memoryEnabled: true,
  files: [{}],
  cancelOnDisconnect: true,
  spec: create(AgentSpecSchema, { ...executing, hitlTools: ["run_command"] }),
};

describe("an executor", () => {
  test.each<[BackendName, string]>([
    ["nats", ""],
    ["nats", "nats"],
    ["local", ""],
    ["local", "local"],
  ])("is %s for %j", (here, executor) => {
    expect(refusalOf({ executor }, here)).toBeUndefined();
  });

  // Requirement: DUR-6, DUR-7
  test.each<[BackendName, string, string]>([
    [
      "nats",
      "local",
      'executor "local" is not here: its runs are started by runAgent, in the process that asks; leave it out, or name "nats"',
    ],
    [
      "local",
      "nats",
      'executor "nats" is not here: its runs are started by StartRun of a deployment; leave it out, or name "local"',
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
      'executor "Nats" is not known; there are nats, local, temporal, a2a; leave it out, or name "nats"',
    ],
    [
      "nats",
      "toString",
      'executor "toString" is not known; there are nats, local, temporal, a2a; leave it out, or name "nats"',
    ],
  ])("of %s is not %s, which is refused by name", (here, executor, message) => {
    expect(refusalOf({ executor }, here)).toMatchObject({
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
  test("that a backend lacks is refused by the field that asks for it, all at once and always alike", () => {
    const refusal = refusalOf(everything, "local");
    expect(refusal?.violations.map(({ field }) => field)).toEqual([
      "thread_id",
      "memory_enabled",
      "files",
      "cancel_on_disconnect",
      "hitl_tools",
      "permission_classes",
    ]);
    expect(refusal?.message).toContain(
      'thread_id needs threads, which the executor "local" has not here: leave it out, or start the run on a deployment',
    );
    expect(refusalOf(everything, "local")).toEqual(refusal);
  });

  test("that a deployment has is not refused there", () => {
    expect(refusalOf(everything, "nats", "sandbox", "files")).toBeUndefined();
  });

  test("that a deployment has only with an isolating toolhost is refused without one", () => {
    const refusal = refusalOf({ files: [{}], spec: executing }, "nats");
    expect(refusal?.violations.map(({ field }) => field)).toEqual(["files", "permission_classes"]);
  });

  test("that the surroundings bring along is not lacking", () => {
    expect(refusalOf({ spec: asking }, "local")).toBeInstanceOf(Failure);
    expect(refusalOf({ spec: asking }, "local", "approvals")).toBeUndefined();
    expect(refusalOf({ spec: executing }, "nats")?.message).toBe(
      'permission_classes needs sandbox, which the executor "nats" has not here: no toolhost offers an isolating sandbox; start one that has bubblewrap',
    );
    expect(refusalOf({ spec: executing }, "nats", "sandbox")).toBeUndefined();
  });
});

test("a sandbox is offered by toolhosts that isolate and have something to execute", () => {
  const { tools } = offer;
  expect(offersSandbox(tools)).toBe(true);
  for (const isolation of ["none", "files-only"]) {
    expect(offersSandbox(tools.map((catalog) => ({ ...catalog, isolation })))).toBe(false);
  }
  expect(offersSandbox(tools.map((catalog) => ({ ...catalog, tools: [] })))).toBe(false);
  expect(offersSandbox([])).toBe(false);
});

test("workspaces are offered by toolhosts that have file tools, with or without isolation", () => {
  const { tools } = offer;
  expect(offersWorkspaces(tools)).toBe(true);
  const under = (isolation: string) => tools.map((catalog) => ({ ...catalog, isolation }));
  expect(offersWorkspaces(under("files-only"))).toBe(true);
  expect(offersWorkspaces(under("none"))).toBe(false);
  expect(offersWorkspaces([])).toBe(false);
});
