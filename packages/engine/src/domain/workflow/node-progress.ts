import type { NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import type { Call, Frame, FrameWorkflow } from "../state/frame.ts";
import type { NodeStart } from "./node-starts.ts";
import type { WorkflowPlan } from "./plan-of.ts";

/** How far a node is. */
export type NodeProgress =
  /** A source of one of its edges has not ended. */
  | { readonly kind: "waiting" }
  /** Calls of it are open, or start now. */
  | { readonly kind: "running"; readonly starts: readonly NodeStart[] }
  | {
      readonly kind: "ended";
      /** Empty: the node was skipped, or has no outputs. */
      readonly outputs: NodeOutputs;
      /** What says that the outputs are only a part of what a call gave. Empty: they are the whole. */
      readonly cutBy: string;
    }
  | { readonly kind: "failed"; readonly problem: string };

/** A node of a frame's workflow, with the calls that it has made. */
export interface GivenNode {
  readonly frame: Frame;
  readonly workflow: FrameWorkflow;
  readonly plan: WorkflowPlan;
  /** How many calls may start now, beside those in progress. */
  readonly room: number;
  readonly calls: readonly Call[];
}
