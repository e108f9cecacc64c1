import { expect, test } from "vitest";
import { sandboxIdentity } from "../src/adapters/bubblewrap/identity.ts";
import { UnsafeLocalDriver } from "../src/adapters/unsafe-local/unsafe-local-driver.ts";
import { commandsContract } from "./support/contract/sandbox-contract.ts";

const identity = sandboxIdentity(64_017);
const driver = new UnsafeLocalDriver(identity);

test("an unsafe-local sandbox does not say that it isolates", async () => {
  expect(await driver.probe()).toMatchObject({ works: true, isolates: false });
});

commandsContract("unsafe-local", {
  driver,
  identity,
  bounds: { memory: false, processes: false },
  hidden: [],
});
