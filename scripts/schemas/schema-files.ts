import type { Registry } from "@bufbuild/protobuf";
import { guardrailsSchema } from "@reeve/agent/guardrails/guardrails-section";
import { permissionSchema } from "@reeve/agent/permission/permission-schema";
import { compactionSchema } from "@reeve/agent/plugins/compaction-section";
import { retrySchema } from "@reeve/agent/plugins/retry-section";
import { stopSchema } from "@reeve/agent/plugins/stop-section";
import { policySchema } from "@reeve/agent/policy/policy-schema";
import { classNames } from "@reeve/agent/tools/permission-classes";
import { quotaFileSchema } from "@reeve/gateway/quotas/quota-file";
import { registrySchema } from "@reeve/models/registry/model-registry";
import { storedFileSchema } from "@reeve/models/registry/stored-file";
import { mcpFileSchema } from "@reeve/toolhost/tools/mcp/mcp-config";
import { providersFileSchema } from "@reeve/toolhost/tools/providers/provider-config";
import { z } from "zod";
import type { Schema } from "../openapi/json-schema.ts";
import type { Refinements } from "./message-schema.ts";
import { MessageSchemas } from "./message-schema.ts";

/** The schemas of the files that people write, by name. `contracts` has the messages with their comments. */
export function schemaFiles(contracts: Registry): Readonly<Record<string, Schema>> {
  const limits = ofMessage(contracts, "reeve.agent.v1.Limits", new Map());
  return {
    agent: titled("Agent of Reeve", {
      ...ofMessage(contracts, "reeve.agent.v1.AgentSpec", refinements()),
      // Only a workflow can do without a model.
      anyOf: [{ required: ["model"] }, { required: ["workflow"] }],
    }),
    models: titled("Models and providers of Reeve (REEVE_MODELS)", ofZod(registrySchema)),
    "stored-models": titled(
      "Models and providers that are stored through the API of Reeve",
      ofZod(storedFileSchema),
    ),
    limits: titled("Limits of Reeve (REEVE_LIMITS)", limits),
    policy: titled("Operator's policy of Reeve (REEVE_POLICY_FILE)", ofZod(policySchema)),
    quotas: titled("Quotas of Reeve (REEVE_QUOTAS_FILE)", ofZod(quotaFileSchema)),
    "mcp-servers": titled("MCP servers of Reeve (REEVE_MCP_CONFIG)", ofZod(mcpFileSchema)),
    "tool-providers": titled(
      "Tool providers of Reeve (REEVE_PROVIDERS_CONFIG)",
      ofZod(providersFileSchema),
    ),
  };
}

/** Editors show the title. Draft 7 is the version that all of them know. */
function titled(title: string, schema: Schema): Schema {
  return { $schema: "http://json-schema.org/draft-07/schema#", title, ...schema };
}

function ofMessage(contracts: Registry, typeName: string, refined: Refinements): Schema {
  const type = contracts.getMessage(typeName);
  if (type === undefined) throw new Error(`no message ${typeName} in the contracts`);
  const schemas = new MessageSchemas(refined);
  const schema = schemas.ofMessage(type);
  return { ...schema, definitions: schemas.definitions() };
}

/** Returns the schema of what a file may contain, before it is parsed. */
function ofZod(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: "draft-07",
    io: "input",
    unrepresentable: "any",
    // What a default or a pattern of another syntax adds would only confuse editors.
    reused: "inline",
  });
  return rest;
}

/** What code checks of an agent spec, and its contract does not say. */
function refinements(): Refinements {
  const id = "^[a-z0-9][a-z0-9-]{0,62}$";
  const sections = {
    permission: permissionSchema,
    stop: stopSchema,
    guardrails: guardrailsSchema,
    retry: retrySchema,
    compaction: compactionSchema,
  };
  return new Map<string, Schema | "hidden">([
    // Empty means the default.
    ["AgentSpec.id", { pattern: "^([a-z0-9][a-z0-9-]{0,62})?$" }],
    // No remote agent is supported.
    ["AgentSpec.endpoint", "hidden"],
    ["AgentSpec.permission_classes", { enum: classNames }],
    ["AgentSpec.budget_awareness", { pattern: "^(|per-message|limit:([0-9]|[1-9][0-9]|100))$" }],
    ["AgentSpec.delegates", { pattern: id }],
    [
      "AgentSpec.sections",
      {
        properties: Object.fromEntries(
          Object.entries(sections).map(([name, schema]) => [name, ofZod(schema)]),
        ),
      },
    ],
  ]);
}
