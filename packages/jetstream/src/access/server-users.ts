import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import type { Permissions, ServiceName } from "./permissions.ts";
import { permissionsOf, serviceNames } from "./permissions.ts";

/** The user who may do everything: it creates streams and buckets, and people use it to look into the store. */
export const operator = "operator";

/** The account of NATS to which all users belong in a cluster. */
export const accountName = "reeve";

/** A user of a NATS server: a service, or the operator. */
export type UserName = ServiceName | typeof operator;

export const userNames: readonly UserName[] = [operator, ...serviceNames];

/** What a client needs to connect as a user. */
export interface Credentials {
  readonly user: string;
  readonly pass: string;
}

/** Returns random credentials for each user. */
export function issueCredentials(): Readonly<Record<UserName, Credentials>> {
  const issue = (user: UserName) => [user, { user, pass: randomBytes(24).toString("hex") }];
  return Object.fromEntries(userNames.map(issue)) as Record<UserName, Credentials>;
}

/**
 * Writes the users of a store with so many shards, with their permissions, to a configuration file for nats-server, which only this user
 * can read.
 */
export function writeServerUsers(
  path: string,
  credentials: Readonly<Record<UserName, Credentials>>,
  runShards = 1,
): void {
  writeSecretFile(
    path,
    renderServerUsers((user) => JSON.stringify(credentials[user].pass), runShards),
  );
}

/** Writes a file that only the user of this process can read. */
export function writeSecretFile(path: string, text: string): void {
  // An existing file would keep its mode.
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
}

/** Returns the users with their permissions as configuration of nats-server. `passwordOf` returns a string or a variable. */
export function renderServerUsers(passwordOf: (user: UserName) => string, runShards = 1): string {
  return `authorization {\n  users: [\n${renderUsers(passwordOf, runShards)}\n  ]\n}\n`;
}

/**
 * The same users in an account of their own, which may store `maxStore`. Servers of a cluster that reach their own limits lose the
 * quorum of every stream; at the limit of an account they only refuse writes.
 */
export function renderServerAccount(
  passwordOf: (user: UserName) => string,
  maxStore: string,
  runShards = 1,
): string {
  const limits = `  jetstream: { max_file: ${maxStore} }`;
  return `accounts { ${accountName}: {\n${limits}\n  users: [\n${renderUsers(passwordOf, runShards)}\n  ]\n} }\n`;
}

function renderUsers(passwordOf: (user: UserName) => string, runShards: number): string {
  const users = userNames.map((user) =>
    user === operator
      ? `    { user: ${user}, password: ${passwordOf(user)} }`
      : renderService(user, passwordOf(user), permissionsOf(user, runShards)),
  );
  return users.join("\n");
}

function renderService(service: ServiceName, password: string, permissions: Permissions): string {
  return `    {
      user: ${service}, password: ${password}
      permissions: {
${renderPermissions(permissions)}
      }
    }`;
}

function renderPermissions({ publish, subscribe }: Permissions): string {
  return [
    `        publish: { allow: [\n${renderSubjects(publish)}\n        ] }`,
    `        subscribe: { allow: [\n${renderSubjects(subscribe)}\n        ] }`,
  ].join("\n");
}

function renderSubjects(subjects: readonly string[]): string {
  return subjects.map((subject) => `          ${JSON.stringify(subject)}`).join("\n");
}
