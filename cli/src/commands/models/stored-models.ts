import type { GetModelRegistryResponse, StoredModel, StoredProvider } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import {
  GetModelRegistryResponseSchema,
  StoredModelSchema,
  StoredProviderSchema,
} from "@reeve/contracts/agent";
import { Failure } from "@reeve/platform/failure";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";

/** Shows what is stored through the API. */
export function storedCommand(context: Context): Command {
  const command = new Command("stored")
    .description(
      "List the models and providers that are stored through the API, and what stored providers may use. Needs the role operator in the tenant of REEVE_AUDIT_TENANT.",
    )
    .option("--json", "print them as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const found = await reeve.models.registry(context);
      if (json === true) return terminal.out(jsonLine(GetModelRegistryResponseSchema, found));
      const providers = found.registry?.providers ?? [];
      const models = found.registry?.models ?? [];
      if (providers.length > 0) {
        const header = ["PROVIDER", "API", "ADDRESS", "SECRET", "REVISION"];
        terminal.out(table(header, providers.map(providerRow)));
      }
      if (models.length > 0) {
        const header = ["MODEL", "PROVIDER", "NAME", "REVISION"];
        terminal.out(table(header, models.map(modelRow)));
      }
      terminal.note(hintOf(found));
    }),
  );
}

/** Shows one stored model or provider. */
export function getCommand(context: Context): Command {
  const command = withEntry("get", "Print a stored model as JSON.");
  return command.action((id: string, { provider }: EntryOptions) =>
    withClient(context, command, async (reeve) => {
      const { registry } = await reeve.models.registry(context);
      if (provider === true) {
        const found = registry?.providers.find(({ spec }) => spec?.providerId === id);
        if (found === undefined) throw notStored("provider", id);
        return context.terminal.out(jsonLine(StoredProviderSchema, found));
      }
      const found = registry?.models.find(({ spec }) => spec?.id === id);
      if (found === undefined) throw notStored("model", id);
      context.terminal.out(jsonLine(StoredModelSchema, found));
    }),
  );
}

/** Deletes one stored model or provider. */
export function deleteCommand(context: Context): Command {
  const command = withEntry(
    "delete",
    "Delete a stored model. Agents that name it start no runs until it is stored again.",
  ).option("--revision <number>", "only if it is at this revision", BigInt);
  interface Options extends EntryOptions {
    readonly revision?: bigint;
  }
  return command.action((id: string, { provider, revision = 0n }: Options) =>
    withClient(context, command, async (reeve) => {
      const options = { revision, signal: context.signal };
      await (provider === true
        ? reeve.models.deleteProvider(id, options)
        : reeve.models.delete(id, options));
      context.terminal.out(
        `${provider === true ? "provider" : "model"} ${oneLine(id, 128)} deleted\n`,
      );
    }),
  );
}

interface EntryOptions {
  readonly provider?: true;
}

function withEntry(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("<id>", "id of the model")
    .option("--provider", "the id is that of a provider");
}

function providerRow({ spec, revision }: StoredProvider): readonly string[] {
  return [
    oneLine(spec?.providerId ?? "", 64),
    oneLine(spec?.api ?? "", 16),
    oneLine(spec?.baseUrl ?? "", 128),
    oneLine(spec?.secret ?? "", 64),
    String(revision),
  ];
}

function modelRow({ spec, revision }: StoredModel): readonly string[] {
  return [
    oneLine(spec?.id ?? "", 64),
    oneLine(spec?.provider ?? "", 64),
    oneLine(spec?.upstreamName ?? "", 128),
    String(revision),
  ];
}

function hintOf({ registry, origins, secrets, warnings }: GetModelRegistryResponse): string {
  const isEmpty = (registry?.models.length ?? 0) + (registry?.providers.length ?? 0) === 0;
  return [
    ...warnings.map((warning) => `warning: ${oneLine(warning, 500)}\n`),
    ...(isEmpty ? ["nothing is stored; see reeve models apply\n"] : []),
    `stored providers may use the origins: ${listOf(origins)}; the secrets: ${listOf(secrets)}\n`,
  ].join("");
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.map((name) => oneLine(name, 128)).join(", ");
}

function notStored(kind: "model" | "provider", id: string): Failure {
  const reason = kind === "model" ? ErrorReason.MODEL_NOT_FOUND : ErrorReason.PROVIDER_NOT_FOUND;
  const message = `${kind} ${id} is not stored; reeve models stored lists what is`;
  return new Failure("not_found", reason, message);
}
