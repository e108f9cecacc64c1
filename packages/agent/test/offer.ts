import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { PermissionClass, ToolCatalogSchema, ToolCategory } from "@reeve/contracts/tool";
import type { Offer } from "../src/spec/check-spec.ts";

type ToolInit = MessageInitShape<typeof ToolDescriptorSchema>;

/** Returns a tool of a catalog. */
export function tool(name: string, init: ToolInit = {}): ToolInit {
  const properties: JsonObject = { path: { type: "string" } };
  return {
    name,
    permissionClass: PermissionClass.SAFE,
    source: "builtin",
    category: ToolCategory.GENERAL,
    pool: "default",
    inputSchema: { type: "object", properties },
    ...init,
  };
}

const execute = { permissionClass: PermissionClass.EXECUTE };
const write = {
  permissionClass: PermissionClass.WORKSPACE_WRITE,
  category: ToolCategory.FILESYSTEM,
};
const weather = { permissionClass: PermissionClass.NETWORK, source: "mcp:weather" };

/** What a small deployment offers. */
export const offer: Offer = {
  tools: [
    create(ToolCatalogSchema, {
      pool: "default",
      isolation: "bubblewrap",
      tools: [
        tool("publish_report"),
        tool("read_file", write),
        tool("write_file", write),
        tool("grep", write),
        tool("run_command", { ...execute, category: ToolCategory.TERMINAL }),
        tool("execute_code", { ...execute, category: ToolCategory.CODE }),
        tool("mcp__weather__forecast", weather),
        tool("read_secret", { permissionClass: PermissionClass.SECRETS }),
        tool("unclassed", { permissionClass: PermissionClass.UNSPECIFIED }),
      ],
    }),
  ],
  models: create(ModelCatalogSchema, {
    models: [
      { id: "default", provider: "openai", upstreamName: "gpt-4o", contextWindow: 128_000 },
      { id: "script", provider: "scripted", upstreamName: "hello" },
      { id: "orphan", provider: "unknown", upstreamName: "x" },
    ],
    providers: [
      { name: "openai" },
      { name: "scripted", scripted: true, upstreamNames: ["hello", "report"] },
    ],
  }),
};
