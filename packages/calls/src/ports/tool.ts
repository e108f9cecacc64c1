import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { CallSettings } from "../settings/tool-settings.ts";
import type { EndReason, Sandbox } from "@reeve/sandbox/port";

/** Something that a model may call. */
export interface Tool {
  readonly descriptor: ToolDescriptor;
  /**
   * Makes one call. What goes wrong in the tool is part of the outcome; a Failure that is thrown is told to the model as
   * well. An aborted signal ends the call: whatever it then returns or throws is dropped.
   */
  call(context: CallContext, signal: AbortSignal): Promise<ToolOutcome>;
}

export interface CallContext {
  readonly tenant: string;
  readonly runId: string;
  readonly callId: string;
  readonly traceparent: string;
  /** Arguments that hold to the tool's schema. */
  readonly args: JsonObject;
  readonly settings: CallSettings;
  /** The sandbox over the run's workspace, with the run's files laid in. */
  sandbox(): Promise<Sandbox>;
  report(progress: Progress): void;
  /** Asks a person, and waits for the answer, for minutes. Rejects when the call is ended meanwhile. */
  ask(question: AskedQuestion): Promise<GivenAnswer>;
}

/** What a tool asks a person. */
export interface AskedQuestion {
  readonly message: string;
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** Who asks: `mcp:<server>`. */
  readonly askedBy: string;
}

/** What came of it. `cancelled`: nobody answered in time. */
export type GivenAnswer =
  | { readonly kind: "accepted"; readonly content: JsonObject }
  | { readonly kind: "declined" | "cancelled" };

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

export interface ToolOutcome {
  /** All that there is to say, however large. */
  readonly content: string;
  readonly isError: boolean;
  /** The structured form, of which `content` is the JSON text unless the two differ. */
  readonly structured?: JsonObject;
  /** What is no text: kept as artifacts, of which the model is told the ids. */
  readonly attachments?: readonly Attachment[];
  /** How the sandboxed process ended, when there was one. */
  readonly endReason?: EndReason;
  readonly isolation?: string;
  /** How long the tool itself ran. Absent: as long as the call took. */
  readonly executionTimeMs?: number;
}

/** A picture, a sound or another file that a tool gives. */
export interface Attachment {
  /** What `content` calls it: `image 1`. */
  readonly label: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The tools of this host at the moment. */
export interface Toolbox {
  find(name: string): Tool | undefined;
  list(): readonly Tool[];
}
