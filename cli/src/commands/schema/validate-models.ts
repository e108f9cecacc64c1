import { Command } from "commander";
import type { Context } from "../../context.ts";
import { readSmallFile } from "../../files/small-file.ts";
import { oneLine } from "../../render/plain-text.ts";

const maxBytes = 1_048_576;

/** Checks a registry of models as a runtime reads it. */
export function validateModelsCommand({ terminal }: Pick<Context, "terminal">): Command {
  return new Command("validate")
    .description(
      "Check a file of REEVE_MODELS, and list everything that is wrong with it. Needs no server; keys are not read.",
    )
    .requiredOption("-f, --file <path>", "registry of models and providers, as YAML or JSON")
    .action(async ({ file }: { readonly file: string }) => {
      const text = await readSmallFile(file, maxBytes);
      // Only this command reads a registry.
      const { parseModelRegistry } = await import("@reeve/models/registry/model-registry");
      const { providers, models } = parseModelRegistry(text, file);
      terminal.out(
        `${oneLine(file, 200)} is valid: ${models.length} models, ${providers.length} providers of its own\n`,
      );
    });
}
