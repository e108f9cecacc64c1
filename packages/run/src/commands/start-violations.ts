import { outputSchemaProblem } from "@reeve/agent/schema/schema-problem";
import type { StartRunRequest } from "@reeve/contracts/run";
import { ChatContextKind, OnBusy } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { textBytesOf } from "../parts/part-note.ts";

/** The maximum total size of the input and the messages, in bytes. */
const maxBytes = 262_144;

/**
 * Returns what is wrong with a request to start a run that keeps each rule of its contract: what several fields together break,
 * and paths that are not normalized. Empty when the request is valid.
 */
export function startViolations(request: StartRunRequest): readonly Violation[] {
  return [
    ...conversationViolations(request),
    ...threadViolations(request),
    ...pathViolations(request),
    ...contextViolations(request),
    ...outputSchemaViolations(request),
  ];
}

function outputSchemaViolations({ outputSchema }: StartRunRequest): readonly Violation[] {
  const problem = outputSchema === undefined ? undefined : outputSchemaProblem(outputSchema);
  return problem === undefined
    ? []
    : [{ field: "output_schema", description: problem, reason: "MALFORMED" }];
}

function conversationViolations({ input, parts, messages }: StartRunRequest): readonly Violation[] {
  const bytes = messages.reduce(
    (sum, message) => sum + textBytesOf(message),
    textBytesOf({ text: input, parts }),
  );
  if (bytes <= maxBytes) return [];
  const description = `input and messages have ${bytes} bytes in total, more than the maximum of ${maxBytes}; pass large content as a file`;
  return [{ field: "messages", description, reason: "TOO_LARGE" }];
}

/** A thread has its own conversation, so a request on a thread cannot bring messages. */
function threadViolations({ threadId, onBusy, messages }: StartRunRequest): readonly Violation[] {
  if (threadId === "") {
    if (onBusy === OnBusy.UNSPECIFIED) return [];
    const description = "is only valid with a thread_id";
    return [{ field: "on_busy", description, reason: "CONTRADICTION" }];
  }
  if (messages.length === 0) return [];
  const description = "is not valid with a thread_id: the thread has the conversation";
  return [{ field: "messages", description, reason: "CONTRADICTION" }];
}

function pathViolations({ files }: StartRunRequest): readonly Violation[] {
  const seen = new Set<string>();
  return files.flatMap(({ path }, index) => {
    const field = `files[${index}].path`;
    const parts = path.split("/");
    if (parts.some((part) => part === "" || part === "." || part === "..") || path.includes("\0")) {
      const description = `"${path}" is not a normalized path relative to the workspace`;
      return [{ field, description, reason: "MALFORMED" }];
    }
    if (seen.has(path))
      return [{ field, description: `"${path}" is repeated`, reason: "REPEATED" }];
    seen.add(path);
    return [];
  });
}

/** Only an editor shows a workflow. */
function contextViolations({ chatContext }: StartRunRequest): readonly Violation[] {
  const { kind, workflowId = "" } = chatContext ?? {};
  if (workflowId === "" || kind === ChatContextKind.EDITOR) return [];
  const description = "is only valid in an editor; set chat_context.kind, or leave it out";
  return [{ field: "chat_context.workflow_id", description, reason: "CONTRADICTION" }];
}
