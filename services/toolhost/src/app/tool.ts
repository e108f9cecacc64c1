import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolDescriptor, ToolSettings } from "@reeve/contracts/tool";
import { ToolStatus } from "@reeve/contracts/tool";
import type { Sandbox } from "../ports/sandbox.ts";

/** A tool that this host executes. */
export interface Tool {
  /** All but the pool, which the host knows. */
  readonly descriptor: ToolDescriptor;
  /**
   * Executes one call whose arguments fit the schema. What goes wrong within the tool is an outcome; it throws only when
   * the host itself is at fault.
   */
  run(call: ToolRun, signal: AbortSignal): Promise<ToolOutcome>;
}

export interface ToolRun {
  readonly tenant: string;
  readonly runId: string;
  readonly callId: string;
  readonly args: JsonObject;
  readonly settings: ToolSettings | undefined;
  /** The sandbox over the run's workspace, made ready when it is first asked for. */
  sandbox(): Promise<Sandbox>;
  progress(report: ProgressReport): void;
}

export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ToolOutcome {
  /** What the model reads. */
  readonly content: string;
  readonly status: ToolStatus;
  readonly structured?: JsonObject;
  /** How the sandboxed process ended, when there was one. */
  readonly endReason?: string;
  readonly isolation?: string;
}

export function succeeded(content: string, more: Partial<ToolOutcome> = {}): ToolOutcome {
  return { content, status: ToolStatus.SUCCESS, ...more };
}

export function failed(content: string, more: Partial<ToolOutcome> = {}): ToolOutcome {
  return { content, status: ToolStatus.ERROR, ...more };
}
