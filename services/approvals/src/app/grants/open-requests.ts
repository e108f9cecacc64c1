import type { Approval, Grant } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { KeyedChange } from "@reeve/jetstream/table/port";

/** The pending approvals and the grants as a process knows them, and which approvals a change makes it look at. */
export class OpenRequests {
  /** Keys of the pending approvals of each agent. */
  readonly #pending = new Map<string, Set<string>>();
  readonly #agents = new Map<string, string>();
  readonly #grants = new Map<string, Map<string, Grant>>();
  readonly #agentOfGrant = new Map<string, string>();

  /** Returns the keys of approvals to look at after a change of an approval. */
  approvalChanged(change: KeyedChange<Approval>): readonly string[] {
    if (change.kind === "unreadable") return [];
    const key = change.kind === "written" ? change.row.key : change.key;
    const agent = this.#agents.get(key);
    this.#agents.delete(key);
    if (agent !== undefined) removeFrom(this.#pending, agent, key);
    if (change.kind === "deleted") return [];
    const { record } = change.row;
    const owner = agentKey(key, record.agentId);
    if (record.state !== ApprovalState.PENDING) {
      const isOpen =
        record.decision?.grant !== undefined || this.unusedGrants(key, record).length > 0;
      return isOpen ? [key] : [];
    }
    this.#agents.set(key, owner);
    const known = this.#pending.get(owner) ?? new Set();
    this.#pending.set(owner, known.add(key));
    return this.#grants.has(owner) ? [key] : [];
  }

  /** Returns the keys of approvals to look at after a change of a grant. */
  grantChanged(change: KeyedChange<Grant>): readonly string[] {
    // Nothing is decided by what is known of it: its row is read again before it is used.
    if (change.kind === "unreadable") return [];
    const key = change.kind === "written" ? change.row.key : change.key;
    const before = this.#agentOfGrant.get(key);
    const usedBefore = this.#grants.get(before ?? "")?.get(key)?.uses.length ?? 0;
    this.#agentOfGrant.delete(key);
    if (before !== undefined) removeFrom(this.#grants, before, key);
    if (change.kind === "deleted") return [];
    const { record } = change.row;
    const owner = agentKey(key, record.agentId);
    this.#agentOfGrant.set(key, owner);
    const known = this.#grants.get(owner) ?? new Map<string, Grant>();
    this.#grants.set(owner, known.set(key, record));
    // One more use of the grant is no reason to look again; one that is free again is.
    if (before !== undefined && record.uses.length >= usedBefore) return [];
    const used = record.uses.map(({ approvalId }) => keyOf(key, approvalId));
    return [...used, ...(this.#pending.get(owner) ?? [])];
  }

  /** Returns the grants that have reserved a use for a closed approval, and did not decide it. */
  unusedGrants(key: string, approval: Approval): readonly Grant[] {
    const { approvalId, state, decision } = approval;
    if (state === ApprovalState.PENDING) return [];
    const applied = decision?.appliedGrant?.grantId;
    return this.grantsFor(key, approval).filter(
      ({ grantId, uses }) =>
        grantId !== applied && uses.some((use) => use.approvalId === approvalId),
    );
  }

  /** Returns the grants that are about calls of the approval's agent, oldest first. */
  grantsFor(key: string, { agentId }: Approval): readonly Grant[] {
    const grants = [...(this.#grants.get(agentKey(key, agentId))?.values() ?? [])];
    return grants.toSorted((a, b) => madeAt(a) - madeAt(b));
  }
}

function madeAt({ grantedAt }: Grant): number {
  return Number(grantedAt?.seconds ?? 0n);
}

/** An agent of one tenant: the keys of approvals and of grants begin with it. */
function agentKey(key: string, agentId: string): string {
  return `${key.slice(0, key.indexOf("."))}.${agentId}`;
}

/** Returns the key of an approval of the tenant of another key. */
function keyOf(key: string, approvalId: string): string {
  return `${key.slice(0, key.indexOf("."))}.${approvalId}`;
}

function removeFrom(
  groups: Map<string, { delete(key: string): boolean; readonly size: number }>,
  group: string,
  key: string,
): void {
  const members = groups.get(group);
  members?.delete(key);
  if (members?.size === 0) groups.delete(group);
}
