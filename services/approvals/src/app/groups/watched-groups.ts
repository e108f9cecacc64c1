import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Alternative, Approval, WatchedGroup } from "@reeve/contracts/approval";
import { ApprovalState, WatchedGroupSchema } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import { openLiveView } from "@reeve/jetstream/table/live-view";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { TaskSet } from "@reeve/platform/async/task-set";
import type { Member } from "@reeve/platform/rpc/principal";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { counter } from "@reeve/platform/telemetry/metrics";

/** How long nobody of a group may have used the inbox before approvals that only the group decides have a warning. */
const unseenMs = 7 * 86_400_000;
/** How exactly the time is known at which a member was seen. */
const precisionMs = 3_600_000;
/** How many groups of a tenant, and of all tenants, a deployment watches. Further ones have no warnings. */
const maxOfTenant = 100;
const maxWatched = 1_000;

const { key: groupKey } = bucketOf(WatchedGroupSchema);

const unseenGroups = counter({
  name: "reeve_approval_unseen_groups_total",
  help: "Groups that alone may decide on approvals that wait, and of which nobody has used the inbox for seven days, once per process.",
});

/** Knows of which groups somebody uses the inbox. */
export interface GroupWatch {
  /** Notes that a person used the inbox. */
  note(member: Pick<Member, "tenant" | "groups">): void;
  /** Returns a function that returns the groups of a pending approval if it seems that nobody can decide it; otherwise none. */
  unseenIn(tenant: string): (approval: Approval) => readonly string[];
}

/** Knows of no groups. */
export const withoutGroupWatch: GroupWatch = {
  note: () => undefined,
  unseenIn: () => () => [],
};

/**
 * Watches the groups that alternatives of approvals name, from the first time on that such an approval is shown. What it knows is in a
 * table, for all instances. Until that is open, nobody is missed.
 */
export class WatchedGroups implements GroupWatch, AsyncDisposable {
  readonly #table: Pick<Table<WatchedGroup>, "watch" | "create" | "put">;
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Pick<Logger, "warn">;
  readonly #writes = new TaskSet();
  /** When a key was written, so that it is not written again before the view has it. */
  readonly #writtenMs = new Map<string, number>();
  /** The tenants of the keys that were created and are not in the view yet. */
  readonly #created = new Map<string, string>();
  readonly #reported = new Set<string>();
  #view: (() => readonly WatchedGroup[]) | undefined;
  #signal: AbortSignal | undefined;

  constructor(
    table: Pick<Table<WatchedGroup>, "watch" | "create" | "put">,
    { clock, log }: { readonly clock: Pick<Clock, "now">; readonly log: Pick<Logger, "warn"> },
  ) {
    this.#table = table;
    this.#clock = clock;
    this.#log = log;
  }

  /** Follows the table until the signal aborts. Resolves when everything that is stored is known. */
  async follow(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#view = await openLiveView(this.#table, this.#log, signal);
  }

  note({ tenant, groups }: Pick<Member, "tenant" | "groups">): void {
    const nowMs = this.#clock.now();
    for (const watched of this.#view?.() ?? []) {
      if (watched.tenant !== tenant || !groups.has(watched.group)) continue;
      if (nowMs - seenMs(watched) < precisionMs) continue;
      const seen = create(WatchedGroupSchema, { ...watched, lastSeenAt: timestampFromMs(nowMs) });
      this.#write(seen, async (key, signal) => void (await this.#table.put(key, seen, signal)));
    }
  }

  unseenIn(tenant: string): (approval: Approval) => readonly string[] {
    const nowMs = this.#clock.now();
    const all = this.#view?.() ?? [];
    const own = new Map(
      all.filter((each) => each.tenant === tenant).map((each) => [each.group, each]),
    );
    for (const each of this.#created.size === 0 ? [] : all) this.#created.delete(keyOf(each));
    const created = [...this.#created.values()].filter((each) => each === tenant);
    let ofTenant = own.size + created.length;
    const isUnseen = (group: string) => {
      const watched = own.get(group);
      if (watched === undefined) {
        const total = this.#created.size;
        const hasRoom = ofTenant < maxOfTenant && all.length + total < maxWatched;
        if (this.#view !== undefined && hasRoom) this.#watch(tenant, group, nowMs);
        ofTenant += this.#created.size - total;
        return false;
      }
      return nowMs - Math.max(seenMs(watched), sinceMs(watched)) >= unseenMs;
    };
    return ({ state, alternatives }) => {
      if (state !== ApprovalState.PENDING || alternatives.length === 0) return [];
      const unseen = alternatives.map((each) => isUnreachable(each, isUnseen));
      if (unseen.includes(false)) return [];
      const groups = [...new Set(alternatives.flatMap((each) => each.groups))];
      for (const group of groups) this.#report(tenant, group);
      return groups;
    };
  }

  /** Waits for the writes in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writes.settled();
  }

  #watch(tenant: string, group: string, nowMs: number): void {
    const watched = create(WatchedGroupSchema, {
      tenant,
      group,
      watchedSince: timestampFromMs(nowMs),
    });
    this.#write(watched, async (key, signal) => {
      this.#created.set(key, tenant);
      try {
        await this.#table.create(key, watched, signal);
      } catch (error) {
        this.#created.delete(key);
        throw error;
      }
    });
  }

  #write(watched: WatchedGroup, write: (key: string, signal: AbortSignal) => Promise<void>): void {
    const { tenant } = watched;
    const key = keyOf(watched);
    const nowMs = this.#clock.now();
    if (this.#signal === undefined || nowMs - (this.#writtenMs.get(key) ?? -Infinity) < precisionMs)
      return;
    // The number of keys is that of the groups in the table, and of those that are not in it yet.
    if (this.#writtenMs.size >= 2 * maxWatched) this.#writtenMs.clear();
    this.#writtenMs.set(key, nowMs);
    const written = write(key, this.#signal).catch((error: unknown) => {
      this.#writtenMs.delete(key);
      if (this.#signal?.aborted !== true) {
        this.#log.warn({ err: error, tenant }, "the use of the inbox by a group was not noted");
      }
    });
    void this.#writes.add(written);
  }

  #report(tenant: string, group: string): void {
    const name = `${tenant}\0${group}`;
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    unseenGroups.inc();
    this.#log.warn(
      { tenant, group },
      "approvals wait for a group of which nobody has used the inbox for seven days; check its members, or change the policy",
    );
  }
}

/** Whether an alternative names only groups that were not seen. People have no such record, and a role is given to tokens too. */
function isUnreachable(
  { people, groups }: Alternative,
  isUnseen: (group: string) => boolean,
): boolean {
  if (people.length > 0 || groups.length === 0) return false;
  // Each of them, so that all of them are watched.
  const unseen = groups.map((group) => !group.startsWith("role:") && isUnseen(group));
  return !unseen.includes(false);
}

function keyOf({ tenant, group }: WatchedGroup): string {
  return groupKey({ tenant, group: createHash("sha256").update(group).digest("hex") });
}

function seenMs({ lastSeenAt }: WatchedGroup): number {
  return lastSeenAt === undefined ? 0 : timestampMs(lastSeenAt);
}

function sinceMs({ watchedSince }: WatchedGroup): number {
  return watchedSince === undefined ? 0 : timestampMs(watchedSince);
}
