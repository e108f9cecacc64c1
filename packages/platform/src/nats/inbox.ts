import type { NatsConnection } from "@nats-io/transport-node";

/**
 * Where the replies to the requests of a connection arrive. Replies of JetStream and replies of other services have different
 * subjects, because other services may publish to the latter: each only below the subjects of the requests that it answers.
 */
export interface InboxPrefixes {
  readonly store: string;
  /** The prefix of `replyPrefix`. */
  readonly services: string;
}

const byDefault = "_INBOX";

/** Returns the prefixes of a client with the given name. */
export function inboxPrefixes(name: string): InboxPrefixes {
  return { store: `${byDefault}.${name}`, services: `_REPLY.${name}` };
}

/**
 * Returns the prefix of the replies to a request to another service. `services` is that of the requester, and `request` the
 * subject of the request, or a wildcard of such subjects.
 */
export function replyPrefix({ services }: InboxPrefixes, request: string): string {
  return `${services}.${request}`;
}

/** Returns the prefixes of a connection. */
export function inboxPrefixesOf(connection: NatsConnection): InboxPrefixes {
  // The class of the client has the options, its interface does not.
  const { options } = connection as { readonly options?: { readonly inboxPrefix?: string } };
  const { inboxPrefix = byDefault } = options ?? {};
  const isNamed = inboxPrefix.startsWith(`${byDefault}.`);
  return isNamed
    ? inboxPrefixes(inboxPrefix.slice(byDefault.length + 1))
    : { store: inboxPrefix, services: inboxPrefix };
}
