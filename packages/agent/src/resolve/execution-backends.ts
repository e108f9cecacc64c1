import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { StartRunRequest } from "@reeve/contracts/run";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { executesCode } from "../tools/isolation.ts";
import { grantedClasses } from "../tools/permission-classes.ts";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";

/** What a run can require of its execution backend, beyond models and tools that need no sandbox. */
export type Capability =
  | "threads"
  | "long_term_memory"
  | "collections"
  | "files"
  | "content_parts"
  | "cancel_on_disconnect"
  | "approvals"
  | "sandbox"
  | "saved_workflows";

/** A backend that executes runs. */
interface ExecutionBackend {
  /** The capabilities that it lacks unless its deployment provides them, each with what the caller can do about that. */
  readonly missing: Readonly<Partial<Record<Capability, string>>>;
  /** How its runs are started. Undefined when this version cannot start them. */
  readonly startedBy: string | undefined;
}

const elsewhere = "leave it out, or start the run on a deployment";

const noSandbox = "no toolhost offers an isolating sandbox; start one that has bubblewrap";
const noWorkspaces = "no toolhost keeps workspaces; start one that has bubblewrap";

/** The execution backends that a request can name. A backend has every capability that is not listed as missing. */
const backends = {
  nats: {
    startedBy: "StartRun of a deployment",
    missing: { sandbox: noSandbox, files: noWorkspaces },
  },
  local: {
    startedBy: "runAgent, in the calling process",
    missing: {
      threads: elsewhere,
      long_term_memory: elsewhere,
      collections: elsewhere,
      files: elsewhere,
      content_parts: elsewhere,
      cancel_on_disconnect: "leave it out: the signal of runAgent cancels the run",
      approvals: "no one could decide; pass `decide` to runAgent",
      saved_workflows: "nothing is saved here; pass the agent of the workflow to runAgent",
      sandbox: "pass `tools` of class execute, `workspaces`, and their `isolation` to runAgent",
    },
  },
  temporal: { startedBy: undefined, missing: {} },
  a2a: { startedBy: undefined, missing: {} },
} satisfies Record<string, ExecutionBackend>;

export type BackendName = keyof typeof backends;

/** The parts of a request that require something of a backend. */
export interface RunRequirements extends Partial<
  Pick<
    StartRunRequest,
    | "executor"
    | "threadId"
    | "memoryEnabled"
    | "collections"
    | "cancelOnDisconnect"
    | "workflowTarget"
  >
> {
  readonly files?: readonly unknown[];
  readonly parts?: readonly unknown[];
  readonly messages?: readonly { readonly parts: readonly unknown[] }[];
  readonly spec?: AgentSpec;
}

/**
 * Throws a Failure if the backend `here` cannot execute a run: because the run names another backend, or needs a capability that
 * the backend lacks and that is not among `provided`. The Failure has a violation for each, so nothing is silently ignored.
 */
export function assertBackendSupports(
  requirements: RunRequirements,
  here: BackendName,
  provided: ReadonlySet<Capability>,
): void {
  const violations = [
    ...executorViolations(requirements, here),
    ...workflowViolations(requirements),
    ...missingCapabilities(requirements, here, provided),
  ];
  if (violations.length === 0) return;
  const list = violations.map(({ description }) => description).join("; ");
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, list, {
    violations,
    metadata: { executor: requirements.executor || here },
  });
}

/** Returns whether toolhosts offer tools that execute code, in a sandbox that isolates it. */
export function offersSandbox(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      executesCode(isolation) &&
      tools.some(({ permissionClass }) => permissionClass === PermissionClass.EXECUTE),
  );
}

/** Returns whether toolhosts offer workspaces, in which a run finds its files. */
export function offersWorkspaces(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      isolation !== "none" &&
      tools.some(({ name, source }) => source === "builtin" && name === "read_file"),
  );
}

/** Throws a Failure if the files of a run, together, are larger than any workspace of the deployment. */
export function assertFilesFit(bytes: number, catalogs: readonly ToolCatalog[]): void {
  const hosts = catalogs.filter(({ isolation }) => isolation !== "none");
  // A toolhost that does not announce the size of its workspaces may take any.
  const sizes = hosts.map(({ sandbox }) => Number(sandbox?.workspaceBytes ?? 0));
  if (sizes.length === 0 || sizes.some((size) => size === 0 || size >= bytes)) return;
  const description = `files have ${bytes} bytes in total, and a workspace here holds at most ${Math.max(...sizes)}; pass fewer, or raise REEVE_WORKSPACE_BYTES of the toolhosts`;
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, description, {
    violations: [{ field: "files", description, reason: unsupportedCapability }],
  });
}

function executorViolations(
  { executor = "" }: RunRequirements,
  here: BackendName,
): readonly Violation[] {
  if (executor === "" || executor === here) return [];
  const known: ExecutionBackend | undefined = Object.entries(backends).find(
    ([name]) => name === executor,
  )?.[1];
  const problem =
    known === undefined
      ? `does not exist; the executors are ${Object.keys(backends).join(", ")}`
      : known.startedBy === undefined
        ? "is not available in this version"
        : `is not available here: its runs are started by ${known.startedBy}`;
  const description = `executor "${executor}" ${problem}; leave it out, or name "${here}"`;
  return [{ field: "executor", description, reason: unsupportedCapability }];
}

/** Returns violations of requests for what a workflow would ignore: its graph takes the text of the input. */
function workflowViolations({
  spec,
  parts = [],
  messages = [],
}: RunRequirements): readonly Violation[] {
  if (spec?.workflow === undefined) return [];
  const given = [
    ...(parts.length > 0 ? ["parts"] : []),
    ...(messages.length > 0 ? ["messages"] : []),
  ];
  return given.map((field) => ({
    field,
    description: `${field} would not reach the nodes of the workflow, which takes the text of the input; leave them out, or pass files`,
    reason: unsupportedCapability,
  }));
}

function missingCapabilities(
  requirements: RunRequirements,
  here: BackendName,
  provided: ReadonlySet<Capability>,
): readonly Violation[] {
  const { missing }: ExecutionBackend = backends[here];
  return requiredCapabilities(requirements).flatMap(([capability, field]) => {
    const remedy = missing[capability];
    if (remedy === undefined || provided.has(capability)) return [];
    const description = `${field} needs ${capability}, which the executor "${here}" does not have here: ${remedy}`;
    return [{ field, description, reason: unsupportedCapability }];
  });
}

/** Returns the capabilities that a run needs, each with the field that requires it. */
function requiredCapabilities({
  threadId = "",
  memoryEnabled = false,
  collections = [],
  files = [],
  parts = [],
  messages = [],
  cancelOnDisconnect = false,
  workflowTarget = "",
  spec,
}: RunRequirements): readonly (readonly [Capability, string])[] {
  const classes = grantedClasses(spec?.permissionClasses ?? []);
  const all = [
    ["threads", "thread_id", threadId !== ""],
    ["long_term_memory", "memory_enabled", memoryEnabled],
    ["collections", "collections", collections.length > 0],
    ["collections", "spec.collections", (spec?.collections.length ?? 0) > 0],
    ["files", "files", files.length > 0],
    ["content_parts", "parts", parts.length > 0],
    ["content_parts", "messages", messages.some((message) => message.parts.length > 0)],
    ["cancel_on_disconnect", "cancel_on_disconnect", cancelOnDisconnect],
    ["approvals", "hitl_tools", (spec?.hitlTools.length ?? 0) > 0],
    ["approvals", "workflow", spec?.workflow?.nodes.some(isApproval) === true],
    ["saved_workflows", "workflow_target", workflowTarget !== ""],
    ["sandbox", "permission_classes", classes.has(PermissionClass.EXECUTE)],
  ] as const;
  return all.flatMap(([capability, field, isRequired]) =>
    isRequired ? [[capability, field] as const] : [],
  );
}

function isApproval({ type }: WorkflowNode): boolean {
  return type === "approval";
}
