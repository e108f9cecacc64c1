import type { SkillDescriptor } from "@reeve/contracts/agent";
import { SkillDescriptorSchema } from "@reeve/contracts/agent";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";
import { printList } from "../print-list.ts";

const format = {
  header: ["SKILL", "FILES", "BYTES", "DIGEST", "DESCRIPTION"],
  row: ({ name, fileCount, sizeBytes, digest, description }: SkillDescriptor) => [
    oneLine(name, 64),
    String(fileCount),
    String(sizeBytes),
    oneLine(digest, 12),
    oneLine(description, 100),
  ],
  empty: "no skills; set REEVE_SKILLS of the runtime to a folder with one folder per skill",
};

/** Lists the skills that agents may name, and checks folders of skills. */
export function skillsCommand(context: Context): Command {
  return new Command("skills")
    .description("Manage skills.")
    .addCommand(listCommand(context))
    .addCommand(validateCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List the skills that agents may name.")
    .option("--json", "print one skill per line as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { skills } = await reeve.listModels(context);
      await printList(context.terminal, SkillDescriptorSchema, skills, format, json === true);
    }),
  );
}

function validateCommand({ terminal, signal }: Context): Command {
  return new Command("validate")
    .description(
      "Check a folder of skills as a runtime reads it, and list everything that is wrong. Needs no server.",
    )
    .argument("<folder>", "folder with one folder per skill")
    .option("--json", "print one skill per line as JSON")
    .action(async (folder: string, { json }: { readonly json?: true }) => {
      // Only this command reads skills.
      const { readSkills } = await import("@reeve/models/skills/read-skills");
      const skills = await readSkills(folder, signal);
      const found = skills.map(({ descriptor }) => descriptor);
      await printList(terminal, SkillDescriptorSchema, found, format, json === true);
    });
}
