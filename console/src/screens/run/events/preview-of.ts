import type { RunEvent } from "@reeve/contracts/run";
import { clientCallLine } from "../../../run/client-waits.ts";
import { hookNote } from "../../../run/hook-note.ts";
import { nameOfApproval, nameOfStatus } from "../../../format/names.ts";

const maxLength = 200;

/** Returns what an event says, in one line. Empty for kinds that say nothing more than their name. */
export function previewOf(envelope: RunEvent): string {
  return textOf(envelope).slice(0, maxLength).replace(/\s+/g, " ");
}

function textOf(envelope: RunEvent): string {
  const { event } = envelope;
  switch (event.case) {
    case "clientCall":
      return clientCallLine(envelope);
    case "text":
    case "reasoning":
      return event.value.text;
    case "toolCall":
      return `${event.value.name} ${JSON.stringify(event.value.arguments ?? event.value.rawArguments)}`;
    case "toolResult":
      return event.value.error || (event.value.result?.content ?? "");
    case "mcpProgress":
      return `${event.value.name} ${event.value.message}`;
    case "status":
      return `${nameOfStatus(event.value.status).name} ${event.value.message}`;
    case "usage":
      return `${event.value.inputTokens} tokens in, ${event.value.outputTokens} out`;
    case "approval": {
      const { approval } = event.value;
      return approval === undefined
        ? ""
        : `${approval.call?.name ?? ""} ${nameOfApproval(approval.state).name}`;
    }
    case "subtask":
      return `${event.value.title} ${event.value.ended ? "ended" : "started"}`;
    case "error":
      return event.value.message;
    case "plan":
      return event.value.steps.join("; ");
    case "runCreated":
      return event.value.input;
    case "runClaimed":
      return `${event.value.worker}, claim ${event.value.epoch}`;
    case "modelCallFailed":
      return `${event.value.reason}: ${event.value.message}`;
    case "pluginHookFinished": {
      const note = hookNote(event.value);
      return note === undefined ? event.value.pluginId : `${note.text} ${note.detail}`;
    }
    case "modelTurn":
      return event.value.finishReason;
    case "messageInjected":
    case "messageSubmitted":
      return event.value.message?.text ?? "";
    default:
      return "";
  }
}
