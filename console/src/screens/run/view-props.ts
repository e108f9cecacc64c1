import type { RunSnapshot } from "../../run/run-feed.ts";

/** What each view of a run receives. */
export interface RunViewProps {
  readonly snapshot: RunSnapshot;
}
