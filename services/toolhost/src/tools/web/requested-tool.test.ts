import { callSettings } from "@reeve/calls/settings/tool-settings";
import { create } from "@bufbuild/protobuf";
import { PermissionClass, ToolCategory, ToolSettingsSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { contextOf } from "../../../test/support/call-context.ts";
import { builtinDescriptor } from "../builtin/builtin-descriptor.ts";
import { requestedTool } from "./requested-tool.ts";

const never = new AbortController().signal;
const tool = requestedTool({
  descriptor: builtinDescriptor({
    name: "look",
    description: "Looks.",
    category: ToolCategory.GENERAL,
    permissionClass: PermissionClass.NETWORK,
    properties: {},
    required: [],
  }),
  call: () => Promise.resolve({ content: "seen", isError: false }),
});
const contextWith = (webTools?: boolean) =>
  contextOf({}, undefined, {
    settings: callSettings(
      create(ToolSettingsSchema, { ...(webTools !== undefined && { webTools }) }),
    ),
  });

// Requirement: WEB-7
test("a web tool refuses the calls of a runtime that does not say that the agent asks for it", async () => {
  await expect(tool.call(contextWith(), never)).rejects.toThrow(/only agents that ask for look/);
  expect(await tool.call(contextWith(true), never)).toMatchObject({ content: "seen" });
});
