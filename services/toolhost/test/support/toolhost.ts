import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import type {
  MountedSkill,
  ToolCallFact,
  ToolCallRequest,
  WorkspaceFile,
} from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { CallJournal, CallKey } from "@reeve/jetstream/log/call-journal";

export interface RequestOptions {
  readonly name: string;
  readonly args: JsonObject;
  readonly runId?: string;
  readonly callId?: string;
  readonly idempotent?: boolean;
  readonly files?: readonly Pick<WorkspaceFile, "artifactId" | "path">[];
  /** Hosts and ports that the agent may reach. */
  readonly network?: readonly string[];
  /** How many deliveries have found its tool away. Default: none. */
  readonly waits?: number;
  /** Names of the credentials that its proxy uses. */
  readonly credentials?: readonly string[];
  readonly tenant?: string;
  /** The skills of its agent. Default: none. */
  readonly skills?: readonly Pick<MountedSkill, "name" | "digest" | "artifactId">[];
}

/** Returns a request as the runtime publishes it. Default: run `run_1` of tenant `acme`. */
export function requestOf({
  name,
  args,
  runId = "run_1",
  callId = `${runId}-2-0`,
  idempotent = false,
  files = [],
  network = [],
  waits = 0,
  credentials = [],
  tenant = "acme",
  skills = [],
}: RequestOptions): ToolCallRequest {
  return create(ToolCallRequestSchema, {
    tenant,
    runId,
    call: { callId, name, arguments: args },
    workspace: { id: runId, files: [...files] },
    settings: {
      ...(credentials.length === 0
        ? { networkAllow: [...network] }
        : { networkAllowWithCredentials: [...network], networkCredentials: [...credentials] }),
      skills: [...skills],
    },
    idempotent,
    waits,
  });
}

export function keyOf({ tenant, runId, call }: ToolCallRequest): CallKey {
  return { tenant, run: runId, call: call?.callId ?? "" };
}

/** Returns the facts of a call up to its end, as the runtime follows them. */
export async function factsUntilEnd(
  journal: CallJournal,
  key: CallKey,
  signal: AbortSignal,
): Promise<readonly ToolCallFact[]> {
  const facts: ToolCallFact[] = [];
  for await (const { events } of journal.follow(key, 0, signal)) {
    facts.push(...events);
    if (facts.some(({ fact }) => fact.case === "result" || fact.case === "cancelled")) break;
  }
  return facts;
}

/** Returns the result among the facts. */
export function resultOf(facts: readonly ToolCallFact[]) {
  const result = facts.map(({ fact }) => fact).find((fact) => fact.case === "result");
  if (result === undefined) throw new Error("there is no result");
  return result.value;
}
