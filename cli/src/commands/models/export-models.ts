import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { plainText } from "../../render/plain-text.ts";

/** Prints what is stored as the file that `apply` reads. */
export function exportCommand(context: Context): Command {
  const command = new Command("export").description(
    "Print the stored models and providers as a file for reeve apply. Needs the role operator in the tenant of REEVE_AUDIT_TENANT.",
  );
  return command.action(() =>
    withClient(context, command, async (reeve) => {
      const { registry } = await reeve.models.registry(context);
      // Only this command writes such a file.
      const { renderStoredFile } = await import("@reeve/models/registry/stored-file");
      const providers = registry?.providers.flatMap(({ spec }) => spec ?? []) ?? [];
      const models = registry?.models.flatMap(({ spec }) => spec ?? []) ?? [];
      context.terminal.out(plainText(renderStoredFile({ providers, models })));
    }),
  );
}
