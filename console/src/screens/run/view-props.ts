import type { RunSnapshot } from "../../run/feed/run-feed.ts";

/** What each view of a run receives. */
export interface RunViewProps {
  readonly snapshot: RunSnapshot;
}
