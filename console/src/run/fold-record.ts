import type { RunEvent } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { msOf } from "../format/time.ts";
import { foldClientCall } from "./client-waits.ts";
import { add, addNote, addUsage, frameOf } from "./frames.ts";
import { hookNote } from "./hook-note.ts";
import type { RunModel } from "./run-model.ts";

/** Folds the facts that most clients do not receive. */
export function foldRecord(run: RunModel, envelope: RunEvent): void {
  const { event, sequence } = envelope;
  switch (event.case) {
    case "runCreated": {
      const { agentId, agentRevision, threadId, startedBy, input, messages, files } = event.value;
      const given = { kind: "user", version: 0 } as const;
      Object.assign(run, { agentId, agentRevision, threadId, startedBy, input, files });
      run.spec = event.value.spec;
      run.chatContext = event.value.chatContext;
      for (const { agentId: id, spec } of event.value.delegates) {
        if (spec !== undefined) run.delegates.set(id, spec);
      }
      run.traceId = traceIdOf(event.value.traceparent);
      run.startedAtMs = msOf(envelope.time);
      run.root.startedAtMs = run.startedAtMs;
      messages.forEach(({ role, text, parts: content }, index) => {
        const key = `given-${index}`;
        if (role === Role.USER) add(run.root, { ...given, key, text, content, by: "" });
        else add(run.root, { kind: "text", key, version: 0, step: 0, parts: [], text });
      });
      const content = event.value.parts;
      add(run.root, { ...given, key: "input", text: input, content, by: startedBy });
      return;
    }
    case "runPrepared":
      run.prepared = event.value;
      return;
    case "clientCall":
      return foldClientCall(run, event.value);
    case "todosChanged":
      run.todos = event.value.todos;
      return;
    case "cancelRequested": {
      const { requestedBy, reason } = event.value;
      const who = requestedBy === "" ? "" : ` by ${requestedBy}`;
      addNote(run.root, envelope, {
        tone: "warn",
        text: `Cancelled${who}${reason === "" ? "" : `: ${reason}`}`,
      });
      return;
    }
    case "pluginHookFinished": {
      const frame = frameOf(run, envelope);
      for (const { usage } of event.value.guards) {
        if (usage !== undefined) addUsage(run, frame, usage);
      }
      const note = hookNote(event.value);
      if (note !== undefined) addNote(frame, envelope, note);
      return;
    }
    case "messageSubmitted":
      // The composer lists it until the run takes it up.
      run.waiting.set(event.value.messageId, {
        sequence,
        text: event.value.message?.text ?? "",
        by: event.value.submittedBy,
      });
      return;
    default:
      return;
  }
}

/** Returns the id of the trace in a W3C trace context. Empty if there is none. */
function traceIdOf(traceparent: string): string {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] ?? "";
}
