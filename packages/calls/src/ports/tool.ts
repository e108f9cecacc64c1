import type { JsonObject } from "@bufbuild/protobuf";
import type { FilePart } from "@reeve/contracts/content/parts";
import type { BoundContent, ResultExtent, ToolDescriptor } from "@reeve/contracts/tool";
import type { EndReason, Sandbox } from "@reeve/sandbox/port";
import type { CallSettings } from "../settings/tool-settings.ts";

/** A tool that a model may call. */
export interface Tool {
  readonly descriptor: ToolDescriptor;
  /** Whether what executes its calls can be reached now. Absent: always. */
  isReachable?(): boolean;
  /**
   * Executes one call. A failure of the tool is part of the result; the model also reads the message of a Failure that is
   * thrown. An aborted signal ends the call: what it then returns or throws is discarded.
   */
  call(context: CallContext, signal: AbortSignal): Promise<CallResult>;
}

export interface CallContext {
  readonly tenant: string;
  readonly runId: string;
  /** Who started the run. Empty: unknown. */
  readonly startedBy: string;
  readonly callId: string;
  readonly traceparent: string;
  /** Arguments that are valid against the tool's schema. */
  readonly args: JsonObject;
  readonly settings: CallSettings;
  /** The content of files to which the approval of the call is bound, and which they have now. Undefined: it is bound to none. */
  readonly boundContent?: BoundContent;
  /** Opens the sandbox of the run's workspace, in which the run's input files are staged. */
  sandbox(): Promise<Sandbox>;
  report(progress: Progress): void;
  /** Asks a person and waits for the answer, which may take minutes. Rejects when the call ends first. */
  ask(question: Question): Promise<Answer>;
}

/** A question of a tool for a person. */
export interface Question {
  readonly message: string;
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** Who asks: `mcp:<server>`. */
  readonly askedBy: string;
}

/** The answer to a question. `cancelled`: no answer came in time. */
export type Answer =
  | { readonly kind: "accepted"; readonly content: JsonObject }
  | { readonly kind: "declined" | "cancelled" };

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** The result of a call, from the tool that returns it to the journal that records it. */
export interface CallResult {
  /** The text for the model. A tool returns all of it, however large; the journal records what fits. */
  readonly content: string;
  readonly isError: boolean;
  /** The structured form, of which `content` is the JSON text unless the two differ. */
  readonly structured?: JsonObject;
  /** Files of the result, which are stored as artifacts. The model reads their ids. */
  readonly attachments?: readonly Attachment[];
  /** The images among the attachments that a model can read, once they are stored. Absent: none. */
  readonly files?: readonly FilePart[];
  /** How the sandboxed process ended. Absent: there was none. */
  readonly endReason?: EndReason;
  readonly isolation?: string;
  /** How long the tool ran. Absent: as long as the call took. */
  readonly executionTimeMs?: number;
  /** The artifact that holds what `content` does not show. Absent: `content` shows everything. */
  readonly artifact?: { readonly artifactId: string; readonly sha256: string };
  /** How much the result has of what the tool returned. Absent: all of it. */
  readonly extent?: ResultExtent;
  /** The content of the files that the call names, before it. Absent: it was not inspected. */
  readonly boundContent?: BoundContent;
  /** Whether the call was not executed, because its approval is bound to another content. */
  readonly contentChanged?: boolean;
}

/** An image, a sound, or another file that a tool returns. */
export interface Attachment {
  /** How `content` refers to it: `image 1`. */
  readonly label: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The tools that this host offers now. */
export interface Toolbox {
  find(name: string): Tool | undefined;
  list(): readonly Tool[];
}
