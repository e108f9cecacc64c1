import { FiringSchema, TriggerSchema } from "@reeve/contracts/trigger";
import { FiringOutcome } from "@reeve/client";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { readSmallFile } from "../../files/small-file.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { parseLimit } from "../parse-option.ts";
import { printList } from "../print-list.ts";
import { applyTrigger } from "./apply-trigger.ts";
import {
  describeTrigger,
  firingHeader,
  firingRow,
  triggerHeader,
  triggerRow,
} from "./render-trigger.ts";
import { readTriggerFile } from "./trigger-file.ts";

/** The maximum size of the body of a webhook, in bytes. */
const maxBodyBytes = 262_144;

interface JsonOption {
  readonly json?: true;
}

/** Manages what starts runs by itself. */
export function triggersCommand(context: Context): Command {
  return new Command("triggers")
    .description("Start runs at the times of a schedule, or when a webhook arrives.")
    .addCommand(listCommand(context))
    .addCommand(applyCommand(context))
    .addCommand(getCommand(context))
    .addCommand(firingsCommand(context))
    .addCommand(fireCommand(context))
    .addCommand(pauseCommand(context))
    .addCommand(resumeCommand(context))
    .addCommand(rotateCommand(context))
    .addCommand(deleteCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List triggers.")
    .option("--limit <number>", "maximum number of triggers", parseLimit, 100)
    .option("--json", "print one trigger per line as JSON");
  const format = { header: triggerHeader, row: triggerRow, empty: "no triggers" };
  return command.action(({ limit, json }: JsonOption & { readonly limit: number }) =>
    withClient(context, command, async (reeve) => {
      const triggers = reeve.triggers.list({ limit, signal: context.signal });
      await printList(context.terminal, TriggerSchema, triggers, format, json === true);
    }),
  );
}

function applyCommand(context: Context): Command {
  const command = new Command("apply")
    .description(
      "Create or update triggers from files. You become the owner of what changes: its runs are yours, and secrets of another owner are not valid anymore.",
    )
    .requiredOption("-f, --file <path...>", "triggers, as YAML or JSON; - reads standard input");
  return command.action(({ file }: { readonly file: readonly string[] }) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      // All files first: one that cannot be read changes nothing.
      const specs = [];
      for (const path of file) specs.push(await readTriggerFile(path, terminal));
      for (const spec of specs) {
        const applied = await applyTrigger(reeve, spec, { signal });
        const { trigger, action, webhookSecret } = applied;
        terminal.out(`${oneLine(spec.triggerId, 63)} ${action}\n`);
        if (applied.isSecretGone) {
          const command = `reeve triggers rotate-secret ${spec.triggerId}`;
          terminal.note(`the secret of the owner before is not valid anymore: ${command}\n`);
        }
        if (webhookSecret === "") continue;
        terminal.out(`address  ${trigger.hookPath}\nsecret   ${webhookSecret}\n`);
        terminal.note("the secret is not shown again\n");
      }
    }),
  );
}

function getCommand(context: Context): Command {
  const command = withTrigger("get", "Show a trigger.").option("--json", "print it as JSON");
  return command.action((triggerId: string, { json }: JsonOption) =>
    withClient(context, command, async (reeve) => {
      const trigger = await reeve.triggers.get(triggerId, context);
      const isJson = json === true;
      context.terminal.out(isJson ? jsonLine(TriggerSchema, trigger) : describeTrigger(trigger));
    }),
  );
}

function firingsCommand(context: Context): Command {
  const command = withTrigger("firings", "List the last 100 firings of a trigger.").option(
    "--json",
    "print one firing per line as JSON",
  );
  const format = { header: firingHeader, row: firingRow, empty: "the trigger has not fired" };
  return command.action((triggerId: string, { json }: JsonOption) =>
    withClient(context, command, async (reeve) => {
      const firings = await reeve.triggers.firings(triggerId, context);
      await printList(context.terminal, FiringSchema, firings, format, json === true);
    }),
  );
}

function fireCommand(context: Context): Command {
  const command = withTrigger("fire", "Start a run of a trigger now, as yourself.")
    .option("--body <path>", "file with the body of the webhook; - reads standard input")
    .option("--json", "print the firing as JSON");
  interface Options extends JsonOption {
    readonly body?: string;
  }
  return command.action((triggerId: string, { body: path, json }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const text =
        path === undefined
          ? ""
          : path === "-"
            ? await terminal.read()
            : await readSmallFile(path, maxBodyBytes);
      const body = new TextEncoder().encode(text);
      const firing = await reeve.triggers.fire(triggerId, { body, signal });
      const isStarted = firing.outcome === FiringOutcome.STARTED;
      if (json === true) terminal.out(jsonLine(FiringSchema, firing));
      else if (isStarted) terminal.out(`${firing.runId}\n`);
      else terminal.note(`no run was started: ${oneLine(firing.problem, 500)}\n`);
      return isStarted ? exitCodes.ok : exitCodes.failed;
    }),
  );
}

function pauseCommand(context: Context): Command {
  const command = withTrigger("pause", "Pause a trigger: it does not fire.");
  return command.action((triggerId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.triggers.pause(triggerId, context);
      context.terminal.out(`${triggerId} paused\n`);
    }),
  );
}

function resumeCommand(context: Context): Command {
  const command = withTrigger(
    "resume",
    "Let a trigger fire again, from its next time on. You become its owner: its runs are yours, and secrets of another owner are not valid anymore.",
  );
  return command.action((triggerId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.triggers.resume(triggerId, context);
      context.terminal.out(`${triggerId} resumed\n`);
    }),
  );
}

function rotateCommand(context: Context): Command {
  const command = withTrigger(
    "rotate-secret",
    "Print a new secret for the webhooks of a trigger. You become its owner. The secret before stays valid for a day, unless it was of another owner.",
  );
  return command.action((triggerId: string) =>
    withClient(context, command, async (reeve) => {
      context.terminal.out(`${await reeve.triggers.rotateSecret(triggerId, context)}\n`);
      context.terminal.note("the secret is not shown again\n");
    }),
  );
}

function deleteCommand(context: Context): Command {
  const command = withTrigger("delete", "Delete a trigger and its history. Its runs stay.");
  return command.action((triggerId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.triggers.delete(triggerId, context);
      context.terminal.out(`${triggerId} deleted\n`);
    }),
  );
}

function withTrigger(name: string, description: string): Command {
  return new Command(name).description(description).argument("<trigger>", "id of the trigger");
}
