/** What a server accepts from its clients, whether they have a credential or not. */
export interface ServerLimits {
  /** Open connections. Further ones are closed at once. */
  readonly maxConnections: number;
  /** Open connections from one address, or from one IPv6 network of 64 bits. A proxy is one address. */
  readonly maxConnectionsPerAddress: number;
  /** Open requests of one HTTP/2 connection. */
  readonly maxStreams: number;
  /** The time that the body of a request has to arrive, and each message of a stream of requests. */
  readonly requestTimeoutMs: number;
  /** How long a client may read nothing of an answer that waits for it. */
  readonly answerStallMs: number;
  /** The size of one message, as sent and after decompression. */
  readonly maxMessageBytes: number;
  /** The values of one message: fields, list elements, and map entries, at any depth. They decide what parsing costs. */
  readonly maxMessageValues: number;
  /** Bytes of all messages that the server holds because it reads them or handles their requests. A tenant may use half. */
  readonly maxHeldBytes: number;
}

export const defaultLimits: ServerLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_000,
  maxStreams: 250,
  requestTimeoutMs: 60_000,
  answerStallMs: 60_000,
  maxMessageBytes: 4 * 1024 * 1024,
  maxMessageValues: 50_000,
  maxHeldBytes: 128 * 1024 * 1024,
};
