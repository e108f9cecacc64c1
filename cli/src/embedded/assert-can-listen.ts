import { listenAddress } from "@reeve/platform/process/settings";
import { openListener } from "@reeve/platform/rpc/listener";
import type { Logger } from "@reeve/platform/telemetry/logger";

/**
 * Throws a Failure if nothing can listen on an address, so that a start that would fail leaves nothing behind. An address that is
 * no address is left to the check of the settings.
 */
export async function assertCanListen(listen: string, log: Logger): Promise<void> {
  const { data: address } = listenAddress.safeParse(listen);
  if (address === undefined) return;
  await using _ = await openListener(address, log);
}
