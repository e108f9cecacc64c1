import type { NatsConnection, PublishOptions } from "@nats-io/transport-node";

const directGet = "$JS.API.DIRECT.GET.";

/**
 * Returns a connection whose direct reads find nothing, as those of a server that lags far behind the leader. Requests to the
 * leader are not affected.
 */
export function laggingConnection(connection: NatsConnection): NatsConnection {
  const publish = (subject: string, data?: Uint8Array | string, options?: PublishOptions) => {
    const query = subject.startsWith(directGet) ? missing(subject, data) : { subject, data };
    connection.publish(query.subject, query.data, options);
  };
  return new Proxy(connection, {
    get: (target, name) => {
      if (name === "publish") return publish;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

/** Turns a direct read into one of a message that does not exist. */
function missing(subject: string, data: Uint8Array | string | undefined) {
  const [stream = ""] = subject.slice(directGet.length).split(".", 1);
  const isByQuery = subject === `${directGet}${stream}`;
  if (!isByQuery) return { subject: `${directGet}${stream}.run.none.none.log`, data };
  const query = JSON.parse(String(data)) as object;
  return { subject, data: JSON.stringify({ ...query, seq: 1_000_000_000 }) };
}
