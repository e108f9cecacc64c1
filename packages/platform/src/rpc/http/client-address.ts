import type { ContextValues } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";

const addressKey = createContextKey("", { description: "client address" });

/** Sets the address from which a request came. */
export function setClientAddress(values: ContextValues, address: string): void {
  values.set(addressKey, address);
}

/** Returns the address from which a request came: of the client, or of the last proxy before this server. */
export function clientAddressOf(values: ContextValues): string {
  return values.get(addressKey);
}
