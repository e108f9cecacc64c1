import { createHash } from "node:crypto";

/**
 * Returns the two lanes of a tenant, of `count` lanes from 0. A writer publishes each message of the tenant to one of them. The
 * rule is part of the contracts: see `Lanes` in bus.proto.
 */
export function lanesOf(tenant: string, count: number): readonly [number, number] {
  const [first = 0, second = 0] = createHash("sha256").update(tenant).digest();
  const lane = first % count;
  return [lane, (lane + 1 + (second % (count - 1))) % count];
}
