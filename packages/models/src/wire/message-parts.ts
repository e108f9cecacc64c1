import { modalityOf } from "@reeve/contracts/content/media";
import type {
  ModelToolCall,
  ModelTurn,
  PromptMessage,
  PromptPart,
} from "@reeve/engine/ports/model-provider";

/** A message in the format of OpenTelemetry's conventions for GenAI. */
export interface TelemetryMessage {
  readonly role: string;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  readonly finish_reason?: string;
}

/** Returns the messages of a prompt in this format. */
export function promptParts(messages: readonly PromptMessage[]): readonly TelemetryMessage[] {
  return messages.map((message) => {
    switch (message.role) {
      case "user":
        return {
          role: "user",
          parts: [
            ...texts([message.text]),
            ...(message.parts ?? []).map(promptPart),
            ...texts(message.notes ?? []),
          ],
        };
      case "assistant":
        return { role: "assistant", parts: texts([message.text]) };
      case "verbatim":
        return {
          role: "assistant",
          parts: [...texts([message.text ?? ""]), ...(message.calls ?? []).map(callPart)],
        };
      case "tool": {
        const { providerCallId: id, content, notes = [] } = message;
        const response = { type: "tool_call_response", id, response: content };
        return { role: "tool", parts: [response, ...texts(notes)] };
      }
    }
  });
}

/** Returns an answer in this format. */
export function answerParts(
  text: string,
  { calls, finishReason }: ModelTurn,
): readonly TelemetryMessage[] {
  const parts = [...texts([text]), ...calls.map(callPart)];
  return [{ role: "assistant", parts, finish_reason: finishReason }];
}

function texts(all: readonly string[]) {
  return all.filter((text) => text !== "").map((content) => ({ type: "text", content }));
}

/** A file is named: its bytes do not belong in a trace. */
function promptPart(part: PromptPart) {
  if (part.kind === "text") return { type: "text", content: part.text };
  const { artifactId, mediaType } = part;
  const modality = modalityOf(mediaType) ?? "file";
  return { type: "file", modality, mime_type: mediaType, file_id: artifactId };
}

function callPart({ providerCallId: id, name, argumentsText }: ModelToolCall) {
  return { type: "tool_call", id, name, arguments: argumentsText };
}
