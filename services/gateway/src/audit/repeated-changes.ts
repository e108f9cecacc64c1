import type { AuditEvent } from "@reeve/contracts/audit";
import type { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import type { Clock } from "@reeve/platform/async/clock";
import { RepeatedEvents } from "./repeated-events.ts";

/** How many changes of a tenant that may have had no effect are told apart in a minute while the reserve is in use. */
const maxChanges = 100;

export interface RepeatedChangesOptions {
  readonly recorder: Pick<AuditRecorder, "record" | "noteChange">;
  /** Whether the reserve of a full store is in use. */
  readonly isReserveUsed: () => boolean;
  /** Wall-clock time. */
  readonly clock: Pick<Clock, "now">;
}

/**
 * Records changes. While the reserve of a full store is in use, which their events share with the changes of all tenants, counts
 * those that may have had no effect and repeat a change within a minute: then one event stands for them. A request can succeed as
 * often as a caller likes without an effect, such as a cancellation of a cancelled run. Beyond a hundred such requests in a
 * minute, a tenant has only their number. A change that is known to have had an effect is never counted: it happens once.
 */
export class RepeatedChanges {
  readonly #options: RepeatedChangesOptions;
  readonly #tenants = new Map<string, RepeatedEvents>();

  constructor(options: RepeatedChangesOptions) {
    this.#options = options;
  }

  /** Records a change as `AuditRecorder.record` does, or counts it. `isEffective`: it is recorded in any case. */
  async record(
    event: AuditEvent,
    { isEffective }: { readonly isEffective: boolean },
  ): Promise<void> {
    const { recorder, isReserveUsed, clock } = this.#options;
    const nowMs = clock.now();
    this.flush(nowMs);
    // An event of a call that failed does not use the reserve.
    const mayCount = event.code === "OK" && !isEffective && isReserveUsed();
    if (mayCount && !this.#countsOf(event.tenant).isFirst(kindOf(event), event, nowMs)) return;
    await recorder.record(event);
  }

  /** Records the counts of the changes whose minute is over; of all changes if `nowMs` is Infinity. */
  flush(nowMs: number): void {
    for (const [tenant, counts] of this.#tenants) {
      for (const counted of counts.flush(nowMs)) this.#options.recorder.noteChange(counted);
      if (counts.isEmpty) this.#tenants.delete(tenant);
    }
  }

  #countsOf(tenant: string): RepeatedEvents {
    const counts = this.#tenants.get(tenant) ?? new RepeatedEvents(maxChanges);
    this.#tenants.set(tenant, counts);
    return counts;
  }
}

/** Changes of the same kind have the same caller, method, resources, and choices. */
function kindOf({ subject, method, resources, choices }: AuditEvent): string {
  const named = resources.map(({ kind, id }) => [kind, id]);
  return JSON.stringify([subject, method, named, Object.entries(choices)]);
}
