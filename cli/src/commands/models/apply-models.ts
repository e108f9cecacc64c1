import type { ApplyModelRegistryResponse } from "@reeve/client";
import { ApplyModelRegistryResponseSchema } from "@reeve/contracts/agent";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { exitCodes, UsageError } from "../../exit-code.ts";
import { readSmallFile } from "../../files/small-file.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { renderRegistryChanges } from "./registry-changes.ts";

const maxBytes = 1_048_576;

interface Options {
  readonly file: string;
  readonly prune?: true;
  readonly dryRun?: true;
  readonly exitCode?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** Makes the stored models and providers equal to a file. */
export function applyModelsCommand(context: Context): Command {
  const command = new Command("apply")
    .description(
      "Store the models and providers of a file, all or nothing. Shows what changes first. Needs the role operator in the tenant of REEVE_AUDIT_TENANT.",
    )
    .requiredOption("-f, --file <path>", "models and providers, as YAML or JSON")
    .option("--prune", "delete everything that is stored and not in the file")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--exit-code", "with --dry-run: exit with 6 if something would change")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--json", "print the changes as JSON");
  return command.action((options: Options) => apply(context, command, options));
}

async function apply(context: Context, command: Command, options: Options): Promise<void> {
  const { file, prune = false, dryRun, exitCode, json } = options;
  if (exitCode === true && dryRun !== true) throw new UsageError("--exit-code needs --dry-run");
  const text = await readSmallFile(file, maxBytes);
  // Only this command reads such a file.
  const { parseStoredFile } = await import("@reeve/models/registry/stored-file");
  const { providers, models } = parseStoredFile(text, file);
  if (prune && providers.length + models.length === 0) {
    throw new UsageError(`${file} has no models and providers; delete the stored ones by name`);
  }
  await withClient(context, command, async (reeve): Promise<ExitCode> => {
    const { terminal, signal } = context;
    const request = { providers: [...providers], models: [...models], prune };
    const planned = await reeve.models.apply({ ...request, validateOnly: true }, { signal });
    const hasChanges = planned.changes.length > 0;
    if (json !== true) {
      for (const each of planned.warnings) terminal.note(`warning: ${oneLine(each, 500)}\n`);
      terminal.out(renderRegistryChanges(planned.changes, terminal.style));
    }
    if (dryRun === true || !hasChanges) {
      if (json === true) terminal.out(jsonLine(ApplyModelRegistryResponseSchema, planned));
      return exitCode === true && hasChanges ? exitCodes.changes : exitCodes.ok;
    }
    if (!(await isConfirmed(context, planned, options))) return exitCodes.failed;
    // What was shown is what is stored, or nothing.
    const revision = (planned.registry?.revision ?? 1n) - 1n;
    const seen = { revision, seenRevision: revision };
    const applied = await reeve.models.apply({ ...request, ...seen }, { signal });
    terminal.out(
      json === true
        ? jsonLine(ApplyModelRegistryResponseSchema, applied)
        : `stored (revision ${applied.registry?.revision ?? 0n})\n`,
    );
    return exitCodes.ok;
  });
}

/** Asks a person. Without one, only deletions need `--yes`. */
async function isConfirmed(
  { terminal, signal }: Context,
  { changes }: ApplyModelRegistryResponse,
  { yes, json }: Options,
): Promise<boolean> {
  if (yes === true) return true;
  if (terminal.isInteractive && json !== true) {
    const answer = await terminal.ask("Apply these changes? [y/N] ", signal);
    if (/^y(?:es)?$/i.test(answer?.trim() ?? "")) return true;
    terminal.note("nothing was changed\n");
    return false;
  }
  const deletions = changes.filter(({ action }) => action === "delete").length;
  if (deletions === 0) return true;
  throw new UsageError(
    `--prune would delete ${deletions} entries, and nobody can be asked; nothing was changed: add --yes`,
  );
}
