import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { StartRunRequest } from "@reeve/contracts/run";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { executesCode } from "../tools/isolation.ts";
import { grantedClasses } from "../tools/permission-classes.ts";
import { unsupportedCapability } from "../spec/unsupported-fields.ts";

/** What a run can ask of whoever carries it out, beyond models and tools that need no sandbox. */
export type Capability =
  "threads" | "long_term_memory" | "files" | "cancel_on_disconnect" | "approvals" | "sandbox";

/** Something that carries out runs. */
interface ExecutionBackend {
  /** What it has not, unless its surroundings bring it along; and what to do about that. */
  readonly missing: Readonly<Partial<Record<Capability, string>>>;
  /** How its runs are started. Undefined: not in this version. */
  readonly startedBy: string | undefined;
}

const elsewhere = "leave it out, or start the run on a deployment";

const noSandbox = "no toolhost offers an isolating sandbox; start one that has bubblewrap";
const noWorkspaces = "no toolhost keeps workspaces; start one that has bubblewrap";

/** The execution backends that there are to name. Everything that is not lacking, a backend has. */
const backends = {
  nats: {
    startedBy: "StartRun of a deployment",
    missing: { sandbox: noSandbox, files: noWorkspaces },
  },
  local: {
    startedBy: "runAgent, in the process that asks",
    missing: {
      threads: elsewhere,
      long_term_memory: elsewhere,
      files: elsewhere,
      cancel_on_disconnect: "leave it out: the signal of runAgent cancels the run",
      approvals: "nobody could ever decide; give runAgent a `decide`",
      sandbox: "give runAgent `tools` of class execute, `workspaces` and their `isolation`",
    },
  },
  temporal: { startedBy: undefined, missing: {} },
  a2a: { startedBy: undefined, missing: {} },
} satisfies Record<string, ExecutionBackend>;

export type BackendName = keyof typeof backends;

/** What a run asks for, as far as it matters to a backend. */
export interface RunRequirements extends Partial<
  Pick<StartRunRequest, "executor" | "threadId" | "memoryEnabled" | "cancelOnDisconnect">
> {
  readonly files?: readonly unknown[];
  readonly spec?: AgentSpec;
}

/**
 * Refuses, with a violation for each, what the backend `here` cannot do for a run: to be another backend, or a capability
 * that it lacks and that `surroundings` do not bring along. Nothing is left out in silence.
 */
export function assertBackendSupports(
  asked: RunRequirements,
  here: BackendName,
  surroundings: ReadonlySet<Capability>,
): void {
  const violations = [...executorViolations(asked, here), ...missingCapabilities(asked, here, surroundings)];
  if (violations.length === 0) return;
  const list = violations.map(({ description }) => description).join("; ");
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, list, {
    violations,
    metadata: { executor: asked.executor || here },
  });
}

/** Whether tools that need an isolating sandbox are offered with one. */
export function offersSandbox(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      executesCode(isolation) &&
      tools.some(({ permissionClass }) => permissionClass === PermissionClass.EXECUTE),
  );
}

/** Whether toolhosts keep workspaces, in which a run finds its files. */
export function offersWorkspaces(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      isolation !== "none" &&
      tools.some(({ name, source }) => source === "builtin" && name === "read_file"),
  );
}

function executorViolations({ executor = "" }: RunRequirements, here: BackendName): readonly Violation[] {
  if (executor === "" || executor === here) return [];
  const known: ExecutionBackend | undefined = Object.entries(backends).find(
    ([name]) => name === executor,
  )?.[1];
  const why =
    known === undefined
      ? `is not known; there are ${Object.keys(backends).join(", ")}`
      : known.startedBy === undefined
        ? "is not available in this version"
        : `is not here: its runs are started by ${known.startedBy}`;
  const description = `executor "${executor}" ${why}; leave it out, or name "${here}"`;
  return [{ field: "executor", description, reason: unsupportedCapability }];
}

function missingCapabilities(
  asked: RunRequirements,
  here: BackendName,
  surroundings: ReadonlySet<Capability>,
): readonly Violation[] {
  const { missing }: ExecutionBackend = backends[here];
  return requiredCapabilities(asked).flatMap(([capability, field]) => {
    const remedy = missing[capability];
    if (remedy === undefined || surroundings.has(capability)) return [];
    const description = `${field} needs ${capability}, which the executor "${here}" has not here: ${remedy}`;
    return [{ field, description, reason: unsupportedCapability }];
  });
}

/** What is asked for, each with the field that asks. */
function requiredCapabilities({
  threadId = "",
  memoryEnabled = false,
  files = [],
  cancelOnDisconnect = false,
  spec,
}: RunRequirements): readonly (readonly [Capability, string])[] {
  const classes = grantedClasses(spec?.permissionClasses ?? [], false);
  const all = [
    ["threads", "thread_id", threadId !== ""],
    ["long_term_memory", "memory_enabled", memoryEnabled],
    ["files", "files", files.length > 0],
    ["cancel_on_disconnect", "cancel_on_disconnect", cancelOnDisconnect],
    ["approvals", "hitl_tools", (spec?.hitlTools.length ?? 0) > 0],
    ["sandbox", "permission_classes", classes.has(PermissionClass.EXECUTE)],
  ] as const;
  return all.flatMap(([capability, field, isAsked]) =>
    isAsked ? [[capability, field] as const] : [],
  );
}
