import type { Client } from "@reeve/client";
import { Command, InvalidArgumentError } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { exitCodes, UsageError } from "../../exit-code.ts";
import { escapeUnsafe, oneLine } from "../../render/plain-text.ts";
import type { ApplyPlan } from "./apply-plan.ts";
import { planChanges } from "./apply-plan.ts";
import { listAgentFiles } from "./list-agent-files.ts";
import type { MadeChange } from "./make-changes.ts";
import { makeChanges } from "./make-changes.ts";
import { readAgentFiles } from "./read-agent-files.ts";
import type { RegistryFiles } from "./read-registry-files.ts";
import { readRegistryFiles } from "./read-registry-files.ts";
import type { RegistryPlan } from "./registry-plan.ts";
import {
  deleteEntries,
  fieldsOfChange,
  planRegistry,
  storeEntries,
  untilOffered,
} from "./registry-plan.ts";
import { jsonOfChange, renderChanges, renderProblems, renderRegistry } from "./render-plan.ts";
import { validateFiles } from "./validate-files.ts";

interface Options {
  readonly file: readonly string[];
  readonly recursive?: true;
  readonly set?: string;
  readonly prune?: true;
  readonly pruneModels?: true;
  readonly dryRun?: true;
  readonly exitCode?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** Makes the agents of a deployment, and the stored models and providers, equal to files. */
export function applyCommand(context: Context): Command {
  const command = new Command("apply")
    .description(
      "Create and update agents, and models and providers, from files or folders of files. Shows what changes first; stores nothing if one file is invalid.",
    )
    .requiredOption(
      "-f, --file <path...>",
      "agent specs, as YAML or JSON, or folders with such files; - reads standard input",
    )
    .option("-R, --recursive", "read the folders in folders too")
    .option("--set <name>", "name of the set of agents that the files are", parseSet)
    .option("--prune", "delete the agents that an apply of the same --set created and no file has")
    .option(
      "--prune-models",
      "delete all stored models and providers of the deployment that no file has",
    )
    .option("--dry-run", "show what would change, and change nothing")
    .option("--exit-code", "with --dry-run: exit with 6 if something would change")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--json", "print the changes as JSON");
  return command.action((options: Options) => {
    assertUsable(options);
    return withClient(context, command, async (reeve) => await apply(context, reeve, options));
  });
}

function parseSet(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError("Use at most 63 lowercase letters, digits, and hyphens.");
}

function assertUsable({ set, prune, dryRun, exitCode }: Options): void {
  if (prune === true && set === undefined) {
    throw new UsageError(
      "--prune needs --set: only agents that an apply of the same set created are deleted",
    );
  }
  if (exitCode === true && dryRun !== true) throw new UsageError("--exit-code needs --dry-run");
}

async function apply(context: Context, reeve: Client, options: Options): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { json, dryRun, set } = options;
  const plan = await planOf(context, reeve, options);
  const { problems, warnings } = plan;
  const changes = plan.changes.filter(({ action }) => action !== "unchanged");
  const count = changes.length + (plan.registry?.changes.length ?? 0);
  if (json !== true || problems.length > 0) {
    for (const warning of warnings) terminal.note(`warning: ${oneLine(warning, 500)}\n`);
  }
  if (problems.length > 0) {
    const files = new Set(problems.map(({ file }) => file)).size;
    if (json === true) printJson(context, plan, []);
    terminal.note(
      `${terminal.style("red", "error:")} ${files} of the files cannot be applied; nothing was changed\n${renderProblems(problems)}`,
    );
    return exitCodes.failed;
  }
  if (json !== true) {
    terminal.out(renderRegistry(plan, terminal) + (await renderChanges(plan.changes, terminal)));
  }
  if (dryRun === true) {
    if (json === true) printJson(context, plan, []);
    return options.exitCode === true && count > 0 ? exitCodes.changes : exitCodes.ok;
  }
  if (count > 0 && !(await isConfirmed(context, plan, options))) return exitCodes.failed;
  const made: MadeChange[] = [];
  const { registry } = plan;
  const isMade: EntriesMade = { stored: false, deleted: false };
  try {
    const revision = registry && (await storeEntries(reeve, registry, signal));
    isMade.stored = true;
    if (registry !== undefined) {
      if (json !== true && hasStored(registry)) terminal.out("models and providers stored\n");
      await untilOffered(reeve, registry, signal);
    }
    for await (const each of makeChanges(reeve, changes, { set, signal })) {
      made.push(each);
      if (json !== true) terminal.out(lineOf(each));
    }
    if (registry !== undefined && revision !== undefined && hasDeleted(registry)) {
      await deleteEntries(reeve, registry, { revision, signal });
      if (json !== true) terminal.out("models and providers deleted\n");
    }
    isMade.deleted = true;
  } finally {
    if (json === true) printJson(context, plan, made, isMade);
    else if (made.length < changes.length) {
      const left = changes.slice(made.length).map(({ agentId }) => oneLine(agentId, 63));
      terminal.note(`not applied: ${left.join(", ")}\n`);
    }
  }
  return exitCodes.ok;
}

async function planOf(
  { terminal, signal }: Context,
  reeve: Client,
  { file, recursive, set, prune, pruneModels }: Options,
): Promise<ApplyPlan> {
  const paths = await listAgentFiles(file, { recursive: recursive === true });
  const found = await readRegistryFiles(paths);
  if (pruneModels === true && found.problems.length === 0) assertEntries(found.registry);
  const registry =
    found.registry && found.problems.length === 0
      ? await planRegistry(reeve, found.registry, { prune: pruneModels === true, signal })
      : undefined;
  const { files, problems } = await readAgentFiles(found.others, terminal);
  const stored = await Array.fromAsync(reeve.agents.list({ signal }));
  const before = { stored, registry: registry?.after };
  const validated = await validateFiles(reeve, files, before, signal);
  const ofRegistry = [...found.problems, ...(registry?.problems ?? [])];
  // A file that is not valid still has its agent, so that it is not seen as removed.
  const planned = files.map(({ file: path, spec }) => {
    const valid = validated.valid.find((each) => each.file === path);
    return valid ?? { file: path, spec };
  });
  // A file that cannot be read may have an agent that would look removed.
  const isComplete = problems.length + found.problems.length === 0;
  const plan = planChanges(planned, stored, { set, prune: prune === true && isComplete });
  return {
    registry,
    changes: plan.changes,
    problems: [...ofRegistry, ...problems, ...validated.problems, ...plan.problems],
    warnings: [...(registry?.warnings ?? []), ...validated.warnings, ...plan.warnings],
  };
}

/** Files without entries would delete everything that is stored. */
function assertEntries(registry: RegistryFiles | undefined): void {
  const { providers = [], models = [] } = registry ?? {};
  if (providers.length + models.length > 0) return;
  throw new UsageError(
    "--prune-models needs files with models or providers: these have none; delete the stored ones by name",
  );
}

/** Asks a person. Without one, only deletions need `--yes`. */
async function isConfirmed(
  { terminal, signal }: Context,
  { changes, registry }: ApplyPlan,
  { yes, json }: Options,
): Promise<boolean> {
  if (yes === true) return true;
  const deletions = [...changes, ...(registry?.changes ?? [])].filter(
    ({ action }) => action === "delete",
  ).length;
  if (terminal.isInteractive && json !== true) {
    const answer = await terminal.ask("Apply these changes? [y/N] ", signal);
    if (/^y(?:es)?$/i.test(answer?.trim() ?? "")) return true;
    terminal.note("nothing was changed\n");
    return false;
  }
  if (deletions === 0) return true;
  throw new UsageError(
    `${deletions === 1 ? "one entry" : `${deletions} entries`} would be deleted, and nobody can be asked; nothing was changed: add --yes`,
  );
}

/** Which changes of models and providers were made. */
interface EntriesMade {
  stored: boolean;
  deleted: boolean;
}

const noEntries: EntriesMade = { stored: false, deleted: false };

function hasStored({ changes }: RegistryPlan): boolean {
  return changes.some(({ action }) => action !== "delete");
}

function hasDeleted({ changes }: RegistryPlan): boolean {
  return changes.some(({ action }) => action === "delete");
}

function lineOf({ change: { action, agentId }, revision }: MadeChange): string {
  const id = oneLine(agentId, 63);
  if (action === "delete") return `agent ${id} deleted\n`;
  return `agent ${id} ${action === "create" ? "created" : "updated"} (revision ${revision})\n`;
}

function printJson(
  { terminal }: Context,
  plan: ApplyPlan,
  made: readonly MadeChange[],
  entriesMade = noEntries,
): void {
  const revisions = new Map(made.map(({ change, revision }) => [change, revision]));
  const agents = plan.changes.map((change) => {
    const revision = revisions.get(change);
    return {
      ...jsonOfChange(change),
      applied: revision !== undefined,
      ...(revision !== undefined && revision > 0 && { revision }),
    };
  });
  const { problems, warnings, registry } = plan;
  const entries = registry?.changes.map((change) => {
    const { kind, id, action } = change;
    const applied = action === "delete" ? entriesMade.deleted : entriesMade.stored;
    return { kind, id, action, fields: fieldsOfChange(change, registry), applied };
  });
  const content = { agents, ...(entries && { registry: entries }), problems, warnings };
  terminal.out(`${escapeUnsafe(JSON.stringify(content))}\n`);
}
