import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { agents, runs } from "../../../api/transport.ts";

/** What a draft is tried with. */
interface DraftClients {
  readonly agents: Pick<typeof agents, "listAgents" | "createAgent" | "updateAgent">;
  readonly runs: Pick<typeof runs, "startRun">;
}

const suffix = "-draft";
const maxIdLength = 63;

/** Returns the id of the agent as which a draft is tried. */
export function draftIdOf(id: string): string {
  return id.endsWith(suffix) ? id : id.slice(0, maxIdLength - suffix.length) + suffix;
}

/**
 * Starts a run of a draft, and returns its id. The draft becomes a revision of an agent of its own, so that all that holds for agents
 * holds for it: the roles, the policy, the audit trail, and that a standing approval is for one revision only.
 */
export async function runDraft(
  { agents, runs }: DraftClients,
  { spec, input, requestId }: { spec: AgentSpec; input: string; requestId: string },
  signal: AbortSignal,
): Promise<string> {
  const id = draftIdOf(spec.id);
  const draft = create(AgentSpecSchema, { ...spec, id, name: draftName(spec) });
  await save(agents, draft, signal);
  const labels = { draft: "true" };
  const { run } = await runs.startRun({ agentId: id, input, labels, requestId }, { signal });
  return run?.runId ?? "";
}

async function save(
  agents: DraftClients["agents"],
  draft: AgentSpec,
  signal: AbortSignal,
): Promise<void> {
  const known = await agents.listAgents({ pageSize: 1_000 }, { signal });
  if (!known.agents.some(({ spec }) => spec?.id === draft.id)) {
    try {
      await agents.createAgent({ spec: draft }, { signal });
      return;
    } catch (error) {
      // The list may be longer, and somebody else may try a draft of the same agent.
      if (ConnectError.from(error).code !== Code.AlreadyExists) throw error;
    }
  }
  await agents.updateAgent({ spec: draft, revision: 0 }, { signal });
}

function draftName({ id, name }: AgentSpec): string {
  return id.endsWith(suffix) ? name : `${name} (draft)`;
}
