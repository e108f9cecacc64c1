import type { RunHookResponse } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdict } from "@reeve/contracts/run";

/** How a hook ended. */
export interface Outcome {
  readonly answer?: RunHookResponse;
  /** Empty: there is an answer. */
  readonly error: string;
  readonly attempts: number;
  /** What guards found. Absent: the plugin has none. */
  readonly guards?: readonly GuardVerdict[];
  /** Whether guards looked at the whole of a result of which the log has a part. Default: they did not. */
  readonly checkedWhole?: boolean;
}
