import { TaskPushesSchema } from "@reeve/contracts/a2a";
import { bucketExists } from "@reeve/jetstream/table/nats";
import type { Background } from "@reeve/platform/async/background";
import type { ApiSite } from "@reeve/platform/rpc/http/api-site";
import type { GatewayConfig } from "./config.ts";
import type { PushDependencies } from "./open-pushes.ts";
import { openPushes } from "./open-pushes.ts";

interface A2aDependencies extends PushDependencies {
  readonly background: Background;
}

/**
 * Opens what serves agents through the A2A protocol, and delivers its push notifications in the background. Undefined: the operator turned
 * the protocol off. A gateway that serves nothing of it does not load its SDK.
 *
 * Without permitted receivers, the notifications that are stored are given up when they are due, so that none is delivered late once
 * receivers are permitted again.
 */
export async function openA2a(
  config: GatewayConfig,
  { background, ...dependencies }: A2aDependencies,
): Promise<ApiSite | undefined> {
  const { REEVE_A2A: exposure, REEVE_A2A_PUSH_ADDRESSES: allowedAddresses } = config;
  const { nats, log, resources } = dependencies;
  const prefixes = exposure === "off" ? [] : config.REEVE_A2A_PUSH;
  const isPushing = prefixes.length > 0;
  const pushes =
    isPushing || (await bucketExists(nats, TaskPushesSchema))
      ? await openPushes({ prefixes, allowedAddresses }, dependencies, background.signal)
      : undefined;
  if (pushes !== undefined) {
    const { pushNotifications } = await import("./a2a/push/push-notifications.ts");
    background.run((signal) => pushNotifications(pushes, log, signal));
  }
  if (exposure === "off") return undefined;
  const { a2aSite } = await import("./a2a/http/a2a-site.ts");
  const { openCardSigner } = await import("./a2a/sign-card.ts");
  return a2aSite({
    exposure,
    publicUrl: config.REEVE_PUBLIC_URL,
    grpcAddress: config.REEVE_A2A_GRPC,
    pushes: isPushing ? pushes : undefined,
    signer: openCardSigner(config.REEVE_A2A_CARD_KEY_FILE, log, resources),
    log,
  });
}
