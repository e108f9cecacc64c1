import type { Style } from "../../style.ts";

/** How the events of a run are shown. */
export interface TraceOptions {
  readonly style: Style;
  readonly columns: number;
  /** The command with which the user runs `reeve` against the same server. */
  readonly reeve: string;
}
