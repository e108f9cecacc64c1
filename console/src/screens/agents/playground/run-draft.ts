import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { agents, runs } from "../../../api/transport.ts";

/** What a draft is tried with. */
interface DraftClients {
  readonly agents: Pick<typeof agents, "listAgents" | "getAgent" | "createAgent" | "updateAgent">;
  readonly runs: Pick<typeof runs, "startRun">;
}

export interface DraftTrial {
  readonly spec: AgentSpec;
  /** Who tries it. */
  readonly subject: string;
  readonly input: string;
  readonly requestId: string;
}

/** Marks the agents as which drafts are tried, and no others. */
const namePrefix = "Draft: ";
const maxNameBytes = 255;
const maxIdLength = 63;
const hashLength = 12;

/** Returns the id of the agent as which a person tries a draft: another one for each agent and person. */
export function draftIdOf(id: string, subject: string): string {
  const end = `-draft-${hashOf(JSON.stringify([id, subject]))}`;
  return (id || "new").slice(0, maxIdLength - end.length) + end;
}

/**
 * Starts a run of a draft, and returns its id. The draft becomes a revision of an agent of its own, so that all that holds for agents
 * holds for it: the roles, the policy, the audit trail, and that a standing approval is for one revision only.
 */
export async function runDraft(
  { agents, runs }: DraftClients,
  { spec, subject, input, requestId }: DraftTrial,
  signal: AbortSignal,
): Promise<string> {
  const id = draftIdOf(spec.id, subject);
  const draft = create(AgentSpecSchema, { ...spec, id, name: draftName(spec.name) });
  await save(agents, draft, signal);
  const labels = { draft: "true" };
  const { run } = await runs.startRun({ agentId: id, input, labels, requestId }, { signal });
  return run?.runId ?? "";
}

/** Saves a draft as a new agent, or as the next revision of the draft of before; never as one of an agent that is no draft. */
async function save(
  agents: DraftClients["agents"],
  draft: AgentSpec,
  signal: AbortSignal,
): Promise<void> {
  const { id: agentId } = draft;
  const listed = await agents.listAgents({ pageSize: 1_000 }, { signal });
  let before = listed.agents.find(({ spec }) => spec?.id === agentId);
  if (before === undefined) {
    try {
      await agents.createAgent({ spec: draft }, { signal });
      return;
    } catch (error) {
      // The list may be longer, and the person may try the draft in another tab.
      if (ConnectError.from(error).code !== Code.AlreadyExists) throw error;
      before = (await agents.getAgent({ agentId }, { signal })).agent;
    }
  }
  if (before?.spec?.name.startsWith(namePrefix) !== true) {
    const message = `the agent ${agentId} is no draft: its name does not begin with "${namePrefix.trim()}". Rename or delete it to try this draft`;
    throw new ConnectError(message, Code.FailedPrecondition);
  }
  await agents.updateAgent({ spec: draft, revision: before.revision }, { signal });
}

function draftName(name: string): string {
  if (name.startsWith(namePrefix)) return name;
  let marked = namePrefix + name;
  const encoder = new TextEncoder();
  while (encoder.encode(marked).length > maxNameBytes) marked = marked.slice(0, -1);
  return marked;
}

/** FNV-1a of 64 bits: pages without TLS have no other hash, and nothing relies on it as a secret. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0").slice(-hashLength);
}
