import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { listViolations } from "@reeve/platform/list-violations";
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
      const { parseModelRegistry, providerViolations } =
        await import("@reeve/models/registry/model-registry");
      const registry = parseModelRegistry(text, file);
      const violations = providerViolations(registry);
      if (violations.length > 0) {
        const message = `${file} is not valid: ${listViolations(violations)}`;
        throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
      }
      const { models, providers } = registry;
      terminal.out(
        `${oneLine(file, 200)} is valid: ${counted(models.length, "model")}, ${counted(providers.length, "provider")} of its own\n`,
      );
    });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
