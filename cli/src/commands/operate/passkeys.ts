import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command } from "commander";
import type { Passkey } from "@reeve/contracts/passkey";
import { PasskeySchema } from "@reeve/contracts/passkey";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";
import { printList } from "../print-list.ts";

/** Invites people to register passkeys, and lists and revokes them. */
export function passkeysCommand(context: Context): Command {
  return new Command("passkeys")
    .description("Passkeys, with which people confirm approvals in the console.")
    .addCommand(inviteCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context));
}

function inviteCommand(context: Context): Command {
  const command = new Command("invite")
    .description(
      "Invite a person to register one passkey. Give the code to this person only. Needs the role operator.",
    )
    .argument("<person>", "subject of the person's credentials");
  return command.action((person: string) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const { invitation, expiresAt } = await reeve.passkeys.invite(person, { signal });
      terminal.out(`${invitation}\n`);
      terminal.note(
        `for ${oneLine(person, 200)}, on the page Passkeys of the console, until ${expiresAt?.toISOString() ?? "it is used"}\n`,
      );
    }),
  );
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List your passkeys.")
    .option("--person <subject>", "those of another person, which needs the role operator")
    .option("--json", "print one passkey per line as JSON");
  const format = {
    header: ["PASSKEY", "NAME", "REGISTERED", "LAST USED"],
    row: rowOf,
    empty: "there is no passkey",
  };
  return command.action(({ person, json }: { readonly person?: string; readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const found = await reeve.passkeys.list(person, { signal });
      await printList(terminal, PasskeySchema, asStream(found), format, json === true);
    }),
  );
}

function revokeCommand(context: Context): Command {
  const command = new Command("revoke")
    .description("Revoke a passkey: it confirms nothing from then on.")
    .argument("<passkey>", "id of the passkey")
    .option("--person <subject>", "of another person, which needs the role operator");
  return command.action((credentialId: string, { person }: { readonly person?: string }) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const passkey = { credentialId, ...(person !== undefined && { personId: person }) };
      const existed = await reeve.passkeys.revoke(passkey, { signal });
      terminal.out(existed ? "revoked\n" : "there is no such passkey\n");
    }),
  );
}

async function* asStream(passkeys: readonly Passkey[]): AsyncGenerator<Passkey> {
  yield* passkeys;
}

function rowOf({ credentialId, name, registeredAt, lastUsedAt }: Passkey): readonly string[] {
  return [
    credentialId,
    oneLine(name, 64),
    registeredAt === undefined ? "" : timestampDate(registeredAt).toISOString(),
    lastUsedAt === undefined ? "never" : timestampDate(lastUsedAt).toISOString(),
  ];
}
