import type { ListModelsResponse } from "@reeve/contracts/agent";
import { ListModelsResponseSchema } from "@reeve/contracts/agent";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

/** Lists the models that agents may name. */
export function modelsCommand(context: Context): Command {
  const command = new Command("models")
    .description("List the models that agents may name, with their prices and providers.")
    .option("--json", "print the models and providers as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const listed = await reeve.listModels(context);
      if (json === true) return terminal.out(jsonLine(ListModelsResponseSchema, listed));
      if (listed.models.length > 0) {
        terminal.out(
          table(["MODEL", "PROVIDER", "NAME", "WINDOW", "INPUT", "OUTPUT"], rows(listed)),
        );
      }
      terminal.note(hintOf(listed));
    }),
  );
}

function rows({ models }: ListModelsResponse): readonly (readonly string[])[] {
  return models.map(({ id, provider, upstreamName, contextWindow, pricing }) => [
    oneLine(id, 128),
    oneLine(provider, 64),
    oneLine(upstreamName, 128),
    contextWindow === 0 ? "" : contextWindow.toLocaleString("en-US"),
    pricing === undefined ? "" : `$${pricing.inputUsdPerMillion}/M`,
    pricing === undefined ? "" : `$${pricing.outputUsdPerMillion}/M`,
  ]);
}

function hintOf({ providers }: ListModelsResponse): string {
  if (providers.length === 0) {
    return "no providers; set OPENAI_API_KEY, ANTHROPIC_API_KEY, or REEVE_SCRIPTS of the runtime\n";
  }
  const names = providers.map(({ name }) => oneLine(name, 64)).join(", ");
  return `an agent may also name a model as provider:model; the providers: ${names}\n`;
}
