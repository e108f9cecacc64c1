import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { shadowedEntries } from "@reeve/agent/registry/composite-catalog";
import type { ModelService, ModelSpec, ProviderSpec } from "@reeve/contracts/agent";
import { ModelSpecSchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import type { Principal } from "@reeve/platform/rpc/principal";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { ModelChange } from "../../app/models/change-models.ts";
import { changeModels, readRegistry } from "../../app/models/change-models.ts";
import type { RegistryPorts } from "../../app/models/registry-ports.ts";
import { assertRegistrySeen, assertSeen, assertStored } from "../../app/models/seen-revision.ts";

/** How many warnings a response lists. */
const maxWarnings = 50;

/** Returns the handlers of ModelService. `operatingTenant` has the operators of the deployment; undefined: nobody. */
export function modelService(
  ports: RegistryPorts,
  operatingTenant: string | undefined,
): ServiceImpl<typeof ModelService> {
  const operatorIn = (context: HandlerContext): Principal => {
    const principal = principalOf(context);
    if (principal.tenant !== operatingTenant) throw denied(principal);
    return principal;
  };
  const changed = async (change: Partial<ModelChange>, context: HandlerContext) => {
    const { subject } = operatorIn(context);
    const result = await changeModels(ports, subject, { ...none, ...change }, context.signal);
    return { ...result, warnings: result.warnings.slice(0, maxWarnings) };
  };
  return {
    getModelRegistry: async (_, context) => {
      operatorIn(context);
      const registry = await readRegistry(ports, context.signal);
      const local = ports.localModels();
      return {
        registry,
        origins: local.storedProviders?.origins ?? [],
        secrets: local.storedProviders?.secrets.map(({ name }) => name) ?? [],
        warnings: shadowedEntries(local, registry).slice(0, maxWarnings),
      };
    },
    putModel: async ({ model = create(ModelSpecSchema), revision }, context) => {
      const name = { kind: "model", id: model.id } as const;
      const { registry, warnings } = await changed(
        { models: [model], assertSeen: (before) => assertSeen(before, name, revision) },
        context,
      );
      const stored = registry.models.find(({ spec }) => spec?.id === model.id);
      return { ...(stored && { model: stored }), warnings };
    },
    deleteModel: async ({ modelId, revision }, context) => {
      const name = { kind: "model", id: modelId } as const;
      await changed(
        {
          deletedModels: [modelId],
          assertSeen: (before) => assertStored(before, name, revision),
        },
        context,
      );
      noteEffect(context);
      return {};
    },
    putProvider: async ({ provider = create(ProviderSpecSchema), revision }, context) => {
      const name = { kind: "provider", id: provider.providerId } as const;
      const { registry, warnings } = await changed(
        { providers: [provider], assertSeen: (before) => assertSeen(before, name, revision) },
        context,
      );
      const stored = registry.providers.find(({ spec }) => spec?.providerId === name.id);
      return { ...(stored && { provider: stored }), warnings };
    },
    deleteProvider: async ({ providerId, revision }, context) => {
      const name = { kind: "provider", id: providerId } as const;
      await changed(
        {
          deletedProviders: [providerId],
          assertSeen: (before) => assertStored(before, name, revision),
        },
        context,
      );
      noteEffect(context);
      return {};
    },
    applyModelRegistry: async (request, context) => {
      const { providers, models, prune, validateOnly } = request;
      const { changes, registry, warnings } = await changed(
        {
          providers,
          models,
          prune,
          validateOnly,
          paths: listed,
          assertSeen: (before) => assertRegistrySeen(before, request),
        },
        context,
      );
      return { changes: [...changes], registry, warnings };
    },
  };
}

const single = { provider: () => "provider", model: () => "model" };
const listed = {
  provider: (index: number) => `providers[${index}]`,
  model: (index: number) => `models[${index}]`,
};

/** A change of nothing. */
const none: ModelChange = {
  providers: [] as readonly ProviderSpec[],
  models: [] as readonly ModelSpec[],
  deletedProviders: [],
  deletedModels: [],
  paths: single,
  prune: false,
  validateOnly: false,
  assertSeen: () => undefined,
};

function denied({ tenant, subject }: Principal): Failure {
  const message = `${subject} of tenant ${tenant} may not manage the models of the deployment, which all tenants share; name the tenant of its operators with the gateway's setting REEVE_AUDIT_TENANT`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}
