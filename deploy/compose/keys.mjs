// The service `keys` of compose.yaml: generates the tokens on the first start, because they must not be in the repository.
// `.reeve/token` is for the user of this machine, who becomes its owner; only the services can read the other files.
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

const services = 65_532;
const person = statSync("/keys.mjs");

const token = existing("/host/token") ?? `reeve_${randomBytes(24).toString("hex")}`;
if (statSync("/host").uid === 0) chownSync("/host", person.uid, person.gid);
write("/host/token", `${token}\n`, person);

const shared = existing("/keys/approvals/env")?.split("=")[1] ?? randomBytes(32).toString("hex");
const internal = `REEVE_INTERNAL_TOKEN=${shared}\n`;
const owner = { uid: services, gid: services };
write("/keys/approvals/env", internal, owner);
write("/keys/gateway/env", `REEVE_TOKENS=${token}=local/me\n${internal}`, owner);

/** Returns the content of a file that an earlier start wrote, or undefined. */
function existing(path) {
  return (existsSync(path) && readFileSync(path, "utf8").trim()) || undefined;
}

function write(path, text, { uid, gid }) {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, uid, gid);
}
