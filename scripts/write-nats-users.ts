import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { renderServerUsers } from "@reeve/jetstream/access/server-users";

const path = "deploy/nats/users.conf";

/** Writes the users of NATS and their permissions for deployments. With `isCheck`, only compares them with the file. */
export function writeNatsUsers({ isCheck }: { readonly isCheck: boolean }): void {
  const users = `${header}${renderServerUsers((user) => `$REEVE_NATS_${user.toUpperCase()}_PASSWORD`)}`;
  if (!isCheck) writeFileSync(path, users);
  else if (readFileSync(path, "utf8") !== users) {
    console.error(`${path} is out of date with the contracts; run: npm run gen`);
    process.exitCode = 1;
  }
}

const header = `# Generated from the contracts by \`npm run gen\`. Include it in the configuration of nats-server:
#   include users.conf
# The passwords are environment variables of nats-server. Start each with a letter: nats-server reads digits as a number.
`;
