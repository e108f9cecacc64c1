// The service `keys` of compose.yaml: generates the tokens and the users of NATS on the first start, because they must not be in
// the repository. `node keys.mjs HOST KEYS OWNED` writes `HOST/token`, which gets the same owner as the file OWNED, and
// `KEYS/SERVICE/env` for each service, which only the services can read. Later starts keep all secrets, and replace the
// permissions in `KEYS/nats/nats.conf` with those of this version.
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { issueCredentials, renderServerUsers } from "@reeve/jetstream/access/server-users";

const [host, keys, owned] = process.argv.slice(2);
const services = { uid: 65_532, gid: 65_532 };
const nats = { uid: 0, gid: 0 };
const person = statSync(owned);

const token =
  readExisting(join(host, "token")).trim() || `reeve_${randomBytes(24).toString("hex")}`;
if (statSync(host).uid === 0) chownSync(host, person.uid, person.gid);
write(join(host, "token"), `${token}\n`, person);

const internal = existing("approvals").REEVE_INTERNAL_TOKEN ?? randomBytes(32).toString("hex");
const others = {
  gateway: { REEVE_TOKENS: `${token}=local/me`, REEVE_INTERNAL_TOKEN: internal },
  approvals: { REEVE_INTERNAL_TOKEN: internal },
};
const passwords = {};
for (const [user, { pass }] of Object.entries(issueCredentials())) {
  passwords[user] = existing(user).REEVE_NATS_PASSWORD ?? pass;
  const variables = {
    ...others[user],
    REEVE_NATS_USER: user,
    REEVE_NATS_PASSWORD: passwords[user],
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  write(join(keys, user, "env"), lines.join(""), services);
}
const users = renderServerUsers((user) => JSON.stringify(passwords[user]));
write(join(keys, "nats/nats.conf"), `${users}${storeEncryption()}`, nats);

/** Returns the settings that encrypt the store, if it shall be. A store that was encrypted once stays so. */
function storeEncryption() {
  const path = join(keys, "nats/store-key");
  if (process.env.REEVE_ENCRYPT_STORE !== "true" && !existsSync(path)) return "";
  const key = readExisting(path) || randomBytes(32).toString("hex");
  write(path, key, nats);
  return `\njetstream { cipher: aes, key: "${key}" }\n`;
}

/** Returns the variables that an earlier start wrote for a service. */
function existing(service) {
  return parseEnv(readExisting(join(keys, service, "env")));
}

function readExisting(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Replaces a file at once: what it held before must survive a full disk. */
function write(path, text, { uid, gid }) {
  const next = `${path}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600 });
  chownSync(next, uid, gid);
  renameSync(next, path);
}
