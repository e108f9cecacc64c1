import type { AgentSpec } from "@reeve/contracts/agent";
import type { DelegateAgent, RunCreated, StartRunRequest } from "@reeve/contracts/run";
import type { Credential } from "@reeve/platform/rpc/principal";
import { isRestricted } from "@reeve/knowledge/records/knowledge-user";
import { membershipsOf } from "@reeve/platform/rpc/credential";
import type { GatewayPorts } from "../gateway-ports.ts";

interface Searching {
  readonly request: Pick<StartRunRequest, "collections">;
  readonly spec: AgentSpec | undefined;
  readonly delegates: readonly DelegateAgent[];
}

/**
 * Returns what the start of a run records of its collections: those of the request and of the agent. Throws a Failure if the caller may
 * not read one of them, or one of a delegate.
 */
export async function readableCollections(
  { knowledge }: Pick<GatewayPorts, "knowledge">,
  credential: Pick<Credential, "tenant" | "subject" | "roles" | "groups">,
  { request, spec, delegates }: Searching,
  signal: AbortSignal,
): Promise<Pick<RunCreated, "collections" | "collectionsRestricted" | "readerGroups">> {
  const collections = [...new Set([...request.collections, ...(spec?.collections ?? [])])];
  const ofDelegates = delegates.flatMap((each) => each.spec?.collections ?? []);
  const { tenant, subject } = credential;
  const groups = membershipsOf(credential);
  const user = { tenant, subject, groups };
  const all = new Set([...collections, ...ofDelegates]);
  const found = await Promise.all([...all].map((each) => knowledge.readable(user, each, signal)));
  const readerGroups = new Set(found.flatMap((each) => each.readerGroups));
  return {
    collections,
    collectionsRestricted: found.some(isRestricted),
    readerGroups: [...readerGroups].filter((group) => groups.has(group)),
  };
}
