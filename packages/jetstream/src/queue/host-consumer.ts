const separator = "=";

/** Returns the name of the durable consumer of a host. Names of pools and hosts do not contain the separator. */
export function hostConsumerName(pool: string, host: string): string {
  return `${pool}${separator}${host}`;
}

/** Returns the host of a consumer, or undefined when the consumer does not belong to a host of this pool. */
export function hostOfConsumer(pool: string, consumer: string): string | undefined {
  const prefix = `${pool}${separator}`;
  return consumer.startsWith(prefix) ? consumer.slice(prefix.length) : undefined;
}

/** Returns the pool of a consumer: that of a pool, or that of one of its hosts. */
export function poolOfConsumer(consumer: string): string {
  return consumer.split(separator, 1)[0] ?? "";
}
