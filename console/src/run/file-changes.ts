import type { CallItem, RunModel } from "./run-model.ts";

/** What a call did to the text of a file. */
export interface FileChange {
  readonly call: CallItem;
  /** The part that was replaced, or the whole text. Undefined: it is not known. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * Returns what the calls of `write_file` and `edit_file` that succeeded did to a file, in their order. Text before the first change
 * is not in the events of a run, and neither is what other tools write.
 */
export function changesOf(run: RunModel, path: string): readonly FileChange[] {
  const changes: FileChange[] = [];
  let whole: string | undefined;
  for (const call of run.calls.values()) {
    const args = argumentsOf(run, call);
    if (call.result?.success !== true || normal(args["path"]) !== path) continue;
    if (call.call.name === "write_file" && typeof args["content"] === "string") {
      changes.push({ call, before: whole, after: args["content"] });
      whole = args["content"];
    } else if (call.call.name === "edit_file") {
      const { old_text: before, new_text: after } = args;
      if (typeof before !== "string" || typeof after !== "string") continue;
      changes.push({ call, before, after });
      whole = whole?.replace(before, () => after);
    }
  }
  return changes;
}

/** Returns the arguments with which a call ran: a person may have changed those of the model. */
function argumentsOf(run: RunModel, { call, approvalId }: CallItem): Record<string, unknown> {
  const edited = run.approvals.get(approvalId)?.decision?.editedArguments;
  return edited ?? call.arguments ?? {};
}

/** Models write `./a.txt` and `a.txt` for the same file. */
function normal(path: unknown): string | undefined {
  return typeof path === "string" ? path.replace(/^(\.\/+)+/, "") : undefined;
}
