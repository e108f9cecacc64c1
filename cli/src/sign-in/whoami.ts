import type { GetCallerResponse } from "@reeve/contracts/identity";
import { GetCallerResponseSchema } from "@reeve/contracts/identity";
import type { Role } from "@reeve/contracts/access/role";
import { RoleSchema } from "@reeve/contracts/access/role";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";

/** Prints who the server takes this command line for. */
export function whoamiCommand(context: Context): Command {
  const command = new Command("whoami")
    .description("Print who you are for the server: tenant, subject, groups, and roles.")
    .option("--json", "print the caller as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const caller = await reeve.getCaller(context);
      const text = json === true ? jsonLine(GetCallerResponseSchema, caller) : linesOf(caller);
      context.terminal.out(text);
    }),
  );
}

function linesOf({ tenant, subject, groups, roles }: GetCallerResponse): string {
  const lines = [
    `subject  ${oneLine(subject, 256)}`,
    `tenant   ${oneLine(tenant, 128)}`,
    `roles    ${roles.map(roleName).join(", ")}`,
    ...(groups.length === 0 ? [] : [`groups   ${oneLine(groups.join(", "), 1_024)}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function roleName(role: Role): string {
  return RoleSchema.value[role]?.localName.toLowerCase() ?? `role ${role}`;
}
