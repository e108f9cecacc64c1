import { sandboxIdentity } from "@reeve/sandbox/host/identity";

/** User of the attacked sandboxes. */
export const attackedIdentity = sandboxIdentity(64_017);
/** User of the attacks without a boundary. It differs from that of sandboxes, so they cannot harm any. */
export const unprotectedIdentity = sandboxIdentity(64_099);
