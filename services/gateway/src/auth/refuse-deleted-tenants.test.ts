import type { Nats } from "@reeve/platform/nats/connect-nats";
import { createContextValues } from "@connectrpc/connect";
import { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { RunService } from "@reeve/contracts/run";
import { keysUnavailable, tenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { PayloadCipher } from "@reeve/jetstream/sealing/payload-cipher";
import { sealPayloads } from "@reeve/jetstream/sealing/payload-cipher";
import { fixedCredentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { authenticate, recheck } from "@reeve/platform/rpc/principal";
import { expect, test } from "vitest";
import { refuseDeletedTenants } from "./refuse-deleted-tenants.ts";

const roles = new Set([Role.VIEWER]);
const deleted = { kind: "precondition", reason: ErrorReason.TENANT_KEY_DELETED };

const unused = () => Promise.reject(new Error("nothing is sealed or opened here"));

/** A gateway that authenticates people of two tenants, and asks `keys` for the key of one. */
function gateway(keys: (tenant: string) => Promise<never>) {
  // Only its identity is used.
  const connection = {} as Nats["connection"];
  const cipher: PayloadCipher = {
    isOn: true,
    key: (tenant) => keys(tenant),
    seal: unused,
    open: unused,
    altered: ({ name }) => keysUnavailable(name),
  };
  sealPayloads(connection, cipher);
  const tokens = ["acme", "globex"].map(
    (tenant) => [`token-of-${tenant}`, { tenant, subject: "ann", roles }] as const,
  );
  const admit = refuseDeletedTenants(authenticate(fixedCredentials(new Map(tokens))), {
    connection,
  });
  /** Opens a watch, and returns what checks it before each of its messages. */
  return async (tenant: string): Promise<() => void> => {
    const values = createContextValues();
    const requestHeader = new Headers({ authorization: `Bearer token-of-${tenant}` });
    await admit({ service: RunService, method: RunService.method.watchRun, requestHeader, values });
    return () => recheck(values);
  };
}

test("a tenant whose key was deleted has no open streams and opens none, and others keep theirs", async () => {
  let isDeleted = false;
  // A key that is known is no answer that this test needs.
  const open = gateway((tenant) =>
    Promise.reject(
      isDeleted && tenant === "acme" ? tenantKeyDeleted(tenant) : keysUnavailable("known"),
    ),
  );
  const [watch, other] = [await open("acme"), await open("globex")];
  watch();
  isDeleted = true;
  // One message asks for the key, and the next one has the answer.
  watch();
  other();
  await expect(open("acme")).rejects.toMatchObject(deleted);
  expect(watch).toThrow(
    /the key of tenant acme was deleted, so its data cannot be read, .* use another name for a new tenant/,
  );
  other();
  await open("globex");
});
