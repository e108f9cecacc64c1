import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { AccountKeys, AccountUser, KeyName } from "@reeve/jetstream/access/nats-accounts";
import {
  accountUsers,
  issueUser,
  keyNames,
  keyOfSeed,
  newKey,
  renderNatsAccounts,
  seedOf,
} from "@reeve/jetstream/access/nats-accounts";
import { operator, writeSecretFile } from "@reeve/jetstream/access/server-users";
import type { Context } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { closeToOthers } from "./close-to-others.ts";

export interface AccountOptions {
  readonly maxStoreBytes?: number;
  readonly runShards?: number;
  readonly natsUrl: string;
}

/** Writes the keys, the credentials, and the configuration of the users of NATS to a folder. Keeps those that exist. */
export async function issueAccounts(
  { terminal }: Pick<Context, "terminal">,
  folder: string,
  { maxStoreBytes, runShards, natsUrl }: AccountOptions,
): Promise<void> {
  const path = resolve(folder);
  const folders = ["keys", "creds"].map((part) => join(path, part));
  for (const each of folders) mkdirSync(each, { recursive: true, mode: 0o700 });
  const secrets = [
    ...keyNames.map((name) => keyOf(join(path, "keys"), name)),
    ...accountUsers.map((user) => credsOf(path, user)),
  ];
  for (const open of closeToOthers([...folders, ...secrets])) {
    terminal.note(`${open} was open to others; only its owner can use it now\n`);
  }
  const keys = openKeys(join(path, "keys"));
  for (const user of accountUsers) await openCredentials(path, keys, user);
  const configuration = await renderNatsAccounts(keys, maxStoreBytes, runShards);
  writeFileSync(join(path, "nats.conf"), configuration);
  const context = { description: "Reeve", url: natsUrl, creds: credsOf(path, operator) };
  writeFileSync(join(path, "context.json"), `${JSON.stringify(context, null, 2)}\n`);
  terminal.out(
    [
      `${join(path, "nats.conf")}: include it in the configuration of each nats-server, and reload it`,
      `${join(path, "context.json")}: copy it to ~/.config/nats/context/reeve.json for the nats command`,
      ...accountUsers.map((user) => `${credsOf(path, user)}: REEVE_NATS_CREDS_FILE of ${user}`),
      `the id of the account, for monitoring: ${keys.account.getPublicKey()}\n`,
    ].join("\n"),
  );
  terminal.note(`keep ${join(path, "keys")} offline: who has these keys can do everything\n`);
}

function openKeys(folder: string): AccountKeys {
  const entries = keyNames.map((name) => [name, openKey(folder, name)] as const);
  // One for each name.
  return Object.fromEntries(entries) as AccountKeys;
}

function openKey(folder: string, name: KeyName): AccountKeys[KeyName] {
  const path = keyOf(folder, name);
  if (!existsSync(path)) {
    const key = newKey(name);
    writeSecretFile(path, `${seedOf(key)}\n`);
    return key;
  }
  try {
    return keyOfSeed(readFileSync(path, "utf8").trim());
  } catch (cause) {
    const problem = `${path} has no seed of a key; restore it from your backup`;
    throw new UsageError(problem, { cause });
  }
}

async function openCredentials(path: string, keys: AccountKeys, user: AccountUser): Promise<void> {
  const file = credsOf(path, user);
  if (existsSync(file)) return;
  writeSecretFile(file, Buffer.from(await issueUser(keys, user)).toString());
}

function keyOf(folder: string, name: KeyName): string {
  return join(folder, `${name}.nk`);
}

function credsOf(path: string, user: AccountUser): string {
  return join(path, "creds", `${user}.creds`);
}
