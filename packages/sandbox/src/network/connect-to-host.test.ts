import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { expect, test } from "vitest";
import { AddressGuard } from "./address-guard.ts";
import { connectToHost } from "./connect-to-host.ts";
import { Lookups } from "./lookups.ts";

/** Permitted, and nobody listens there. */
const closed = "127.0.0.1";
/** Closed on every host that runs tests. */
const port = 1;

/** Connects to a name with these addresses, of which only `closed` is permitted. */
function connectTo(...addresses: readonly string[]) {
  const route = {
    guard: new AddressGuard([closed]),
    lookups: new Lookups(async () => addresses),
    lookupMutex: new Semaphore(1),
  };
  return connectToHost("name.test", port, route, neverAborts);
}

// Requirement: KIT-8
test.each([
  ["the first", ["169.254.169.254", closed]],
  ["the second, after one that is permitted", [closed, "169.254.169.254"]],
  ["the last of many", [...Array.from({ length: 20 }, () => closed), "10.0.0.1", "::1"]],
])("a name is refused when %s of its addresses is not permitted", async (_, addresses) => {
  const connection = await connectTo(...addresses);
  expect(connection).toMatchObject({ kind: "refused" });
  expect(JSON.stringify(connection)).toMatch(/name\.test is at (169\.254|10\.0|::1)/);
});

test("a name whose addresses are all permitted is tried at each of them", async () => {
  expect(await connectTo(closed, closed)).toEqual({
    kind: "failed",
    reason: "cannot connect to name.test:1: ECONNREFUSED",
  });
});
