import type { NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";

/** What the server has refused to a connection, each as `publish SUBJECT` or `subscription SUBJECT`. */
export interface Refusals {
  /** Resolves with all refusals of what the connection has sent until now. */
  soFar(): Promise<ReadonlySet<string>>;
}

/** Records what the server refuses to a connection from now on. */
export function recordRefusals(connection: NatsConnection): Refusals {
  const refused = new Set<string>();
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type !== "error") continue;
      if (status.error instanceof errors.PermissionViolationError) {
        refused.add(`${status.error.operation} ${status.error.subject}`);
      }
    }
  })();
  return {
    soFar: async () => {
      // The server answers in order, so it refuses before it answers what was sent later.
      await connection.flush();
      await connection.flush();
      return refused;
    },
  };
}
