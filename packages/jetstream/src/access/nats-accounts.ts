import type { KeyPair, SigningKey } from "@nats-io/jwt";
import {
  createAccount,
  createOperator,
  createUser,
  encodeAccount,
  encodeOperator,
  encodeUser,
  fmtCreds,
  fromSeed,
  newScopedSigner,
} from "@nats-io/jwt";
import { permissionsOf } from "./permissions.ts";
import type { UserName } from "./server-users.ts";
import { accountName, operator, userNames } from "./server-users.ts";

/** The user of the system account, which may remove servers from a cluster. Reeve does not use it. */
export const systemUser = "system";

/** A user with credentials of its own. */
export type AccountUser = UserName | typeof systemUser;

export const accountUsers: readonly AccountUser[] = [...userNames, systemUser];

/**
 * The names of the keys of a deployment: of the operator, of its two accounts, and one that signs each user. The permissions of a
 * user are those of the key that signed it, so they change with the configuration of the servers, and not with the user.
 */
export const keyNames = [
  "operator",
  "account",
  "system-account",
  ...userNames.map((user) => `signer-of-${user}` as const),
] as const;

export type KeyName = (typeof keyNames)[number];

export type AccountKeys = Readonly<Record<KeyName, KeyPair>>;

/** Returns a new key. */
export function newKey(name: KeyName): KeyPair {
  return name === "operator" ? createOperator() : createAccount();
}

/** Returns the key of a seed. Throws if it is no seed. */
export function keyOfSeed(seed: string): KeyPair {
  return fromSeed(new TextEncoder().encode(seed));
}

/** Returns the seed of a key, which is secret. */
export function seedOf(key: KeyPair): string {
  return new TextDecoder().decode(key.getSeed());
}

/**
 * Returns the configuration with which nats-server trusts the operator, and permits each user what the contracts declare. It
 * contains no secret. `maxStoreBytes` is what the account may store; undefined: no limit. `runShards` is over how many streams the logs
 * of runs are spread.
 */
export async function renderNatsAccounts(
  keys: AccountKeys,
  maxStoreBytes: number | undefined,
  runShards = 1,
): Promise<string> {
  const { operator: root, account, "system-account": system } = keys;
  const trusted = await encodeOperator("reeve", root, { system_account: system.getPublicKey() });
  const signing = userNames.map((user) => signerOf(keys, user, runShards));
  const limits = {
    ...unlimited,
    disk_storage: maxStoreBytes ?? -1,
    mem_storage: 0,
    streams: -1,
    consumer: -1,
  };
  const accounts = [
    await encodeAccount(accountName, account, { limits, signing_keys: signing }, { signer: root }),
    await encodeAccount("system", system, { limits: unlimited }, { signer: root }),
  ];
  const ids = [account, system].map((key) => key.getPublicKey());
  return [
    `operator: ${trusted}`,
    `system_account: ${system.getPublicKey()}`,
    "resolver: MEMORY",
    "resolver_preload: {",
    ...ids.map((id, index) => `  ${id}: ${accounts[index]}`),
    "}\n",
  ].join("\n");
}

/** Returns the content of a new credentials file of a user, which is secret. */
export async function issueUser(keys: AccountKeys, user: AccountUser): Promise<Uint8Array> {
  const key = createUser();
  const { account, "system-account": system } = keys;
  const jwt =
    user === systemUser
      ? await encodeUser(user, key, system)
      : await encodeUser(
          user,
          key,
          account,
          {},
          { signer: keys[`signer-of-${user}`], scopedUser: true },
        );
  return fmtCreds(jwt, key);
}

/** What a JWT does not name is 0, not unlimited. */
const unlimited = {
  subs: -1,
  data: -1,
  payload: -1,
  conn: -1,
  leaf: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
};

function signerOf(keys: AccountKeys, user: UserName, runShards: number): SigningKey {
  const { publish, subscribe } =
    user === operator ? { publish: [">"], subscribe: [">"] } : permissionsOf(user, runShards);
  return newScopedSigner(keys[`signer-of-${user}`], user, {
    pub: { allow: [...publish] },
    sub: { allow: [...subscribe] },
  });
}
