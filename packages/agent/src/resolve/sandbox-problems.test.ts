import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { SandboxFeaturesSchema } from "@reeve/contracts/tool";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { check } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { mergeCatalogs } from "../tools/merge-catalogs.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { resolveAgent } from "./resolve-agent.ts";

type Features = MessageInitShape<typeof SandboxFeaturesSchema>;

/** Returns an offer in which one toolhost has each of these features. Undefined: of an earlier version. */
function offering(...hosts: readonly (Features | undefined)[]) {
  const catalogs = hosts.map((sandbox, index) =>
    create(ToolCatalogSchema, {
      pool: "default",
      isolation: "bubblewrap",
      tools: offer.tools.flatMap(({ tools }) => tools),
      host: `h${index}`,
      ...(sandbox && { sandbox }),
    }),
  );
  return { ...offer, tools: mergeCatalogs(catalogs) };
}

const closed: Features = { networkAllow: [], readOnlyWorkspace: false };
const open: Features = { networkAllow: ["*.example.org:443"], readOnlyWorkspace: true };

const allow = ["api.example.org:443", "example.com:443", "api.example.org:80"];
const networked: SpecInit = { permissionClasses: ["execute"], deepAgent: { network: { allow } } };
const readOnly: SpecInit = { permissionClasses: ["execute"], deepAgent: { readOnly: true } };

function problemsOf(init: SpecInit, offered = offering(closed)) {
  const { violations, warnings } = check(init, offered);
  return { violations: violations.map(({ field, reason }) => `${field}: ${reason}`), warnings };
}

function violationsOfPool(pool: string) {
  return check({ deepAgent: { pool } }, offering(closed)).violations;
}

describe("an agent", () => {
  // Requirement: DUR-6
  test("that requests hosts beyond those of the operator is invalid, with each of them", () => {
    expect(problemsOf(networked, offering(open))).toEqual({
      violations: [
        "deep_agent.network.allow[1]: UNSUPPORTED_CAPABILITY",
        "deep_agent.network.allow[2]: UNSUPPORTED_CAPABILITY",
      ],
      warnings: [],
    });
    expect(problemsOf(networked).violations).toHaveLength(3);
  });

  test("that names a credential which no toolhost has is invalid", () => {
    const network = { allow: ["api.example.org:443"], credentials: ["tracker", "other"] };
    const init = { permissionClasses: ["execute", "secrets"], deepAgent: { network } };
    const offered = offering({ ...open, networkCredentials: ["tracker"] });
    expect(problemsOf(init, offered).violations).toEqual([
      "deep_agent.network.credentials[1]: UNSUPPORTED_CAPABILITY",
    ]);
  });

  // Requirement: HOST-4
  test("that names a pool without toolhosts is invalid, with the pools that there are", () => {
    expect(violationsOfPool("default")).toEqual([]);
    expect(violationsOfPool("gpu")).toEqual([
      expect.objectContaining({
        field: "deep_agent.pool",
        reason: "UNSUPPORTED_CAPABILITY",
        description: expect.stringContaining("there are: default"),
      }),
    ]);
  });

  // Requirement: DUR-6
  test("that requests a read-only workspace which no toolhost can mount is invalid", () => {
    expect(problemsOf(readOnly).violations).toEqual([
      "deep_agent.read_only: UNSUPPORTED_CAPABILITY",
    ]);
    expect(problemsOf(readOnly, offering(open))).toEqual({ violations: [], warnings: [] });
  });

  test("that executes no code may have a read-only workspace anywhere", () => {
    const deepAgent = { readOnly: true, terminal: false, code: false };
    expect(problemsOf({ deepAgent, permissionClasses: ["execute"] }).violations).toEqual([]);
    expect(problemsOf({ deepAgent: { readOnly: true } }).violations).toEqual([]);
  });

  test("has a warning for a request that only some toolhosts of the pool honor", () => {
    expect(problemsOf(readOnly, offering(open, closed))).toEqual({
      violations: [],
      warnings: [
        expect.stringMatching(/^deep_agent.read_only: some toolhosts of the pool default/),
      ],
    });
  });

  test("is not refused because of a toolhost that announces nothing, or executes no code", () => {
    expect(problemsOf(networked, offering(undefined)).violations).toEqual([]);
    const filesOnly = create(ToolCatalogSchema, {
      pool: "default",
      isolation: "files-only",
      sandbox: closed,
    });
    const tools = [...offering(open).tools, filesOnly];
    expect(problemsOf(readOnly, { ...offer, tools }).violations).toEqual([]);
  });
});

// Requirement: DUR-6
test("a run of an agent that requests what no toolhost offers any more is refused with the fields", () => {
  const spec = create(AgentSpecSchema, { name: "a", model: "default", ...networked });
  const context = { isEditor: false, extraTools: [], policy: unrestricted };
  expect(() => resolveAgent(spec, offering(open), context)).toThrow(
    expect.objectContaining({
      kind: "unsupported",
      reason: ErrorReason.UNSUPPORTED_CAPABILITY,
      message: expect.stringContaining("cannot reach example.com:443"),
      violations: [
        expect.objectContaining({ field: "deep_agent.network.allow[1]" }),
        expect.objectContaining({ field: "deep_agent.network.allow[2]" }),
      ],
    }),
  );
  expect(resolveAgent(spec, offering(undefined), context).warnings).toEqual([]);
});
