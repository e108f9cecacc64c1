import { Buffer } from "node:buffer";

/** A command that a client of NATS sent to its server. */
export interface NatsCommand {
  /** The verb, in upper case: `PUB`, `HPUB`, `SUB`, `UNSUB`, `CONNECT`, `PING`, or `PONG`. */
  readonly verb: string;
  /** Everything after the verb on its line. */
  readonly args: readonly string[];
  /** The payload of a publication, without its headers. */
  readonly payload: string;
}

const lineEnd = "\r\n";
const verbsWithPayload: ReadonlySet<string> = new Set(["PUB", "HPUB"]);

/** Splits the bytes that a client sends to its NATS server into commands. */
export class ProtocolReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the commands that are complete with `chunk`. Throws when the bytes are not of the protocol. */
  read(chunk: Buffer): readonly NatsCommand[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const commands: NatsCommand[] = [];
    for (;;) {
      const end = this.#rest.indexOf(lineEnd);
      if (end === -1) return commands;
      const line = this.#rest.toString("utf8", 0, end);
      const start = end + lineEnd.length;
      const [verb = "", ...args] = line.split(/[ \t]+/);
      const size = verbsWithPayload.has(verb.toUpperCase()) ? sizeIn(args) : undefined;
      if (size === undefined) {
        commands.push({ verb: verb.toUpperCase(), args, payload: "" });
        this.#rest = this.#rest.subarray(start);
        continue;
      }
      const next = start + size + lineEnd.length;
      if (this.#rest.length < next) return commands;
      const headerBytes = verb.toUpperCase() === "HPUB" ? Number(args.at(-2)) : 0;
      const payload = this.#rest.toString("utf8", start + headerBytes, start + size);
      commands.push({ verb: verb.toUpperCase(), args, payload });
      this.#rest = this.#rest.subarray(next);
    }
  }
}

/** Returns the size of what follows a publication: its last argument. */
function sizeIn(args: readonly string[]): number {
  const size = Number(args.at(-1));
  if (Number.isSafeInteger(size)) return size;
  throw new Error(`a publication without a size: ${args.join(" ")}`);
}
