const separator = "=";

/** Name of the durable consumer of a host. No pool and no host has the separator in its name. */
export function hostConsumerName(pool: string, host: string): string {
  return `${pool}${separator}${host}`;
}

/** The host whose consumer this is; undefined: it is none of a host of this pool. */
export function hostOfConsumer(pool: string, consumer: string): string | undefined {
  const prefix = `${pool}${separator}`;
  return consumer.startsWith(prefix) ? consumer.slice(prefix.length) : undefined;
}
