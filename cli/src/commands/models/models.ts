import type { ListModelsResponse, Pricing } from "@reeve/contracts/agent";
import { ListModelsResponseSchema } from "@reeve/contracts/agent";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";
import { applyModelsCommand } from "./apply-models.ts";
import { exportCommand } from "./export-models.ts";
import { deleteCommand, getCommand, storedCommand } from "./stored-models.ts";
import { validateModelsCommand } from "./validate-models.ts";

/** Lists the models that agents may name. */
export function modelsCommand(context: Context): Command {
  return new Command("models")
    .description(
      "List the models that agents may name, store further ones, and check a registry of models.",
    )
    .addCommand(listModelsCommand(context), { isDefault: true })
    .addCommand(storedCommand(context))
    .addCommand(getCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(applyModelsCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(validateModelsCommand(context));
}

function listModelsCommand(context: Context): Command {
  const command = new Command("list")
    .description("List the models that agents may name, with their prices and providers.")
    .option("--json", "print the models and providers as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const listed = await reeve.listModels(context);
      if (json === true) return terminal.out(jsonLine(ListModelsResponseSchema, listed));
      if (listed.models.length > 0) {
        terminal.out(
          table(
            ["MODEL", "PROVIDER", "NAME", "WINDOW", "INPUT", "OUTPUT", "PRICE FROM"],
            rows(listed),
          ),
        );
      }
      terminal.note(longRequestHint(listed) + hintOf(listed) + listPriceHint(listed));
    }),
  );
}

function rows({ models }: ListModelsResponse): readonly (readonly string[])[] {
  return models.map(({ id, provider, upstreamName, contextWindow, pricing, isStored }) => [
    oneLine(id, 128),
    oneLine(provider, 64),
    oneLine(upstreamName, 128),
    contextWindow === 0 ? "" : contextWindow.toLocaleString("en-US"),
    ...priceColumns(pricing, isStored),
  ]);
}

function priceColumns(pricing: Pricing | undefined, isStored: boolean): readonly string[] {
  if (pricing === undefined) return ["", "", "no price"];
  const { inputUsdPerMillion, outputUsdPerMillion, longRequests, source, asOf } = pricing;
  const mark = longRequests.length > 0 ? "*" : "";
  return [
    `$${inputUsdPerMillion}/M${mark}`,
    `$${outputUsdPerMillion}/M${mark}`,
    source === "" ? (isStored ? "stored" : "the registry") : oneLine(`${source}, ${asOf}`, 64),
  ];
}

function longRequestHint({ models }: ListModelsResponse): string {
  const has = models.some(({ pricing }) => (pricing?.longRequests.length ?? 0) > 0);
  return has ? "* long requests have other prices, see --json\n" : "";
}

/** Names the providers whose well-known models have built-in prices, also those that the list above does not show. */
function listPriceHint({ providers }: ListModelsResponse): string {
  const names = providers.flatMap(({ name, priceList }) =>
    priceList === "" ? [] : [oneLine(name, 64)],
  );
  if (names.length === 0) return "";
  return `well-known models of ${names.join(" and ")} have built-in list prices; prices in the file of REEVE_MODELS replace them\n`;
}

function hintOf({ providers }: ListModelsResponse): string {
  if (providers.length === 0) {
    return "no providers; set OPENAI_API_KEY, ANTHROPIC_API_KEY, or REEVE_SCRIPTS of the runtime\n";
  }
  const names = providers.map(({ name }) => oneLine(name, 64)).join(", ");
  return `an agent may also name a model as provider:model; the providers: ${names}\n`;
}
