import { createLogger } from "@reeve/platform/telemetry/logger";
import { openListener } from "@reeve/platform/rpc/listener";
import { expect, test } from "vitest";
import { assertCanListen } from "./assert-can-listen.ts";

const log = createLogger("test", "silent");

test("an address that another program uses is refused", async () => {
  await using taken = await openListener({ host: "127.0.0.1", port: 0 }, log);
  const address = `127.0.0.1:${taken.port}`;
  await expect(assertCanListen(address, log)).rejects.toThrow(`cannot listen on ${address}`);
  await assertCanListen("127.0.0.1:0", log);
});

test("text that is no address is left to the check of the settings", async () => {
  await expect(assertCanListen("everywhere", log)).resolves.toBeUndefined();
});
