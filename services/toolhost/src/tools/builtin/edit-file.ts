import { PermissionClass } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import { editText } from "@reeve/sandbox/files/workspace-files";
import { builtinTool, stringOf } from "./builtin-tool.ts";
import { fileOutcome, pathProperty, readOnlyRefusal, textOf } from "./file-result.ts";

/** Replaces a part of a text file of the workspace. */
export const editFile: Tool = {
  descriptor: builtinTool({
    name: "edit_file",
    description:
      "Replaces the first occurrence of a text in a file of the workspace. The text must occur exactly as given, with its " +
      "white space. Give expected_occurrences: 1 to be refused when the text is not unique.",
    permissionClass: PermissionClass.WORKSPACE_WRITE,
    properties: {
      path: pathProperty,
      old_text: { type: "string", minLength: 1, description: "The text to be replaced." },
      new_text: { type: "string", description: "The text that takes its place." },
      expected_occurrences: {
        type: "integer",
        minimum: 1,
        description: "How often old_text must occur; nothing is changed when it does not.",
      },
    },
    required: ["path", "old_text", "new_text"],
    exclusiveLock: "workspace",
  }),
  async call({ args, settings, sandbox }, signal) {
    if (settings.readOnly) return readOnlyRefusal;
    const expected = args["expected_occurrences"];
    const box = await sandbox();
    const request = {
      path: stringOf(args["path"]),
      expected: typeof expected === "number" ? expected : undefined,
      old_text: stringOf(args["old_text"]),
      new_text: stringOf(args["new_text"]),
    };
    const outcome = await editText(box, request, signal);
    return fileOutcome(box, outcome, textOf(outcome).trimEnd());
  },
};
