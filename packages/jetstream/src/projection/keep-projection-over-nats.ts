import { randomUUID } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { systemClock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { bucketInstance, openTable } from "../table/nats.ts";
import { keepProjection } from "./keep-projection.ts";
import type { LogCatalog, ProjectedTable } from "./port.ts";

/** A projection over NATS. */
export interface ProjectionOverNats<Key> {
  /** The message that declares the bucket of the rows. */
  readonly schema: DescMessage;
  readonly catalog: LogCatalog<Key>;
  readonly compare: ProjectedTable<Key>["compare"];
  readonly dropOrphans?: ProjectedTable<Key>["dropOrphans"];
}

/** As `keepProjection`, for a projection over NATS. */
export async function keepProjectionOverNats<Key>(
  nats: { readonly connection: NatsConnection },
  { schema, catalog, compare, dropOrphans }: ProjectionOverNats<Key>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { name } = bucketOf(schema);
  const instance = (during: AbortSignal) => bucketInstance(nats, schema, during);
  const states = await openTable(nats, ProjectionSchema);
  const table = { name, instance, compare, ...(dropOrphans && { dropOrphans }) };
  const ports = { table, catalog, states, process: randomUUID(), clock: systemClock, log };
  await keepProjection(ports, signal);
}
