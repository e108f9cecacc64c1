import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { editText } from "@reeve/sandbox/files/workspace-files";
import { builtinDescriptor, stringOf } from "./builtin-descriptor.ts";
import { fileResult, pathProperty, readOnlyRefusal, textOf } from "./file-result.ts";

/** Replaces a part of a text file of the workspace. */
export const editFile: Tool = {
  descriptor: builtinDescriptor({
    name: "edit_file",
    description:
      "Replaces the first occurrence of a text in a file of the workspace. The text must match exactly, including white " +
      "space. Set expected_occurrences to 1 to have the edit refused if the text is not unique.",
    category: ToolCategory.FILESYSTEM,
    permissionClass: PermissionClass.WORKSPACE_WRITE,
    properties: {
      path: pathProperty,
      old_text: { type: "string", minLength: 1, description: "The text to replace." },
      new_text: { type: "string", description: "The text that replaces it." },
      expected_occurrences: {
        type: "integer",
        minimum: 1,
        description: "How many times old_text must occur. If it does not, nothing is changed.",
      },
    },
    required: ["path", "old_text", "new_text"],
    exclusiveLock: "workspace",
    pathArguments: ["path"],
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
    return fileResult(box, outcome, textOf(outcome).trimEnd());
  },
};
