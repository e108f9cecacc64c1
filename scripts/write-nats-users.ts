import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { permissionsOf } from "@reeve/jetstream/access/permissions";
import type { UserName } from "@reeve/jetstream/access/server-users";
import {
  accountName,
  operator,
  renderServerAccount,
  renderServerUsers,
  userNames,
} from "@reeve/jetstream/access/server-users";
import { stringify } from "yaml";

/** Writes the users of NATS and their permissions for deployments. With `isCheck`, only compares them with the files. */
export function writeNatsUsers({ isCheck }: { readonly isCheck: boolean }): void {
  const users = renderServerUsers(passwordVariable);
  const account = renderServerAccount(passwordVariable, "$REEVE_NATS_MAX_STORE");
  const values = stringify(valuesOfChart(), { lineWidth: 0 });
  const files = [
    ["deploy/nats/users.conf", `${headerOfUsers}${users}`],
    ["deploy/nats/account.conf", `${headerOfAccount}${account}`],
    ["deploy/k8s/values/nats-users.yaml", `${headerOfValues}${values}`],
  ] as const;
  for (const [path, text] of files) {
    if (!isCheck) writeFileSync(path, text);
    else if (readFileSync(path, "utf8") !== text) {
      console.error(`${path} is out of date with the contracts; run: npm run gen`);
      process.exitCode = 1;
    }
  }
}

/** Returns the users as values of the Helm chart of NATS, with their passwords from secrets. */
function valuesOfChart(): object {
  const users = userNames.map((user) => ({
    user,
    // The chart writes what is between << and >> without quotes: a variable of nats-server.
    password: `<< $${variableOf(user)} >>`,
    ...(user !== operator && { permissions: allowed(permissionsOf(user)) }),
  }));
  const env = userNames.map((user) => {
    const secretKeyRef = { name: `reeve-nats-${user}`, key: "password" };
    return [variableOf(user), { valueFrom: { secretKeyRef } }];
  });
  return {
    config: { merge: { accounts: { [accountName]: { users } } } },
    container: { env: Object.fromEntries(env) },
  };
}

function allowed({ publish, subscribe }: ReturnType<typeof permissionsOf>): object {
  return { publish: { allow: publish }, subscribe: { allow: subscribe } };
}

function passwordVariable(user: UserName): string {
  return `$${variableOf(user)}`;
}

function variableOf(user: UserName): string {
  return `REEVE_NATS_${user.toUpperCase()}_PASSWORD`;
}

const headerOfUsers = `# Generated from the contracts by \`npm run gen\`. Include it in the configuration of nats-server:
#   include users.conf
# The passwords are environment variables of nats-server. Start each with a letter: nats-server reads digits as a number.
`;
const headerOfAccount = `# Generated from the contracts by \`npm run gen\`. The users of users.conf in an account with a limit, for each server of a cluster:
#   include account.conf
# REEVE_NATS_MAX_STORE, such as 54GB, is what all servers may store together for Reeve. It counts every replica. Keep it below the sum
# of the limits of the servers: full servers lose the quorum of their streams, a full account only refuses writes.
`;
const headerOfValues = `# Generated from the contracts by \`npm run gen\`. The users of NATS, as values of its chart beside those of nats.yaml. The secrets
# must exist in the namespace of NATS. Start each password with a letter: nats-server reads digits as a number.
`;
