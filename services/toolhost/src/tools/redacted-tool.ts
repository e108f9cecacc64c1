import type { CallContext, CallResult, Tool } from "@reeve/calls/ports/tool";
import { Failure } from "@reeve/platform/failure";
import type { Redaction } from "@reeve/platform/telemetry/redaction/redaction";

/** Returns the tools with `redactedTool`. */
export function redactedTools(tools: readonly Tool[], redaction: Redaction): readonly Tool[] {
  return tools.map((tool) => redactedTool(tool, redaction));
}

/**
 * Returns a tool whose results, files, progress, questions, and failures contain no secret that `redaction` recognizes. What a
 * tool returns leaves the toolhost: into the journal, artifacts, the log of the run, and the prompts of the model.
 */
export function redactedTool(tool: Tool, redaction: Redaction): Tool {
  const { call } = tool;
  return {
    ...tool,
    call: async (context, signal) => {
      try {
        return redactedResult(await call(redactedContext(context, redaction), signal), redaction);
      } catch (error) {
        throw redactedFailure(error, redaction);
      }
    },
  };
}

function redactedContext(context: CallContext, redaction: Redaction): CallContext {
  return {
    ...context,
    report: (progress) => {
      context.report({ ...progress, message: redaction.text(progress.message) });
    },
    ask: ({ message, schema, askedBy }) =>
      context.ask({ message: redaction.text(message), schema: redaction.json(schema), askedBy }),
  };
}

function redactedResult(result: CallResult, redaction: Redaction): CallResult {
  const { content, structured, attachments } = result;
  return {
    ...result,
    content: redaction.text(content),
    ...(structured && { structured: redaction.json(structured) }),
    ...(attachments && {
      attachments: attachments.map(({ label, mediaType, bytes }) => ({
        label,
        mediaType: redaction.text(mediaType),
        bytes: redaction.bytes(bytes),
      })),
    }),
  };
}

/** The log redacts the cause. */
function redactedFailure(error: unknown, redaction: Redaction): unknown {
  if (!(error instanceof Failure)) return error;
  const message = redaction.text(error.message);
  if (message === error.message) return error;
  return new Failure(error.kind, error.reason, message, { cause: error });
}
