// The first service of compose.yaml: makes what must not stand in a file of the repository, once. `.reeve/token` is for the
// person at this machine, who then owns it; the rest is for the services alone.
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

const services = 65_532;
const person = statSync("/keys.mjs");

const token = kept("/host/token") ?? `reeve_${randomBytes(24).toString("hex")}`;
if (statSync("/host").uid === 0) chownSync("/host", person.uid, person.gid);
write("/host/token", `${token}\n`, person);

const shared = kept("/keys/approvals/env")?.split("=")[1] ?? randomBytes(32).toString("hex");
const internal = `REEVE_INTERNAL_TOKEN=${shared}\n`;
const owner = { uid: services, gid: services };
write("/keys/approvals/env", internal, owner);
write("/keys/gateway/env", `REEVE_TOKENS=${token}=local/me\n${internal}`, owner);

/** What an earlier start has left. */
function kept(path) {
  return (existsSync(path) && readFileSync(path, "utf8").trim()) || undefined;
}

function write(path, text, { uid, gid }) {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, uid, gid);
}
