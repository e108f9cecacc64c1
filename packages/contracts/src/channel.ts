import type { DescMessage } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Stream } from "./bus.ts";
import { bucket, channel } from "./bus.ts";

/** The values of a template's placeholders, by name: `{ tenant: "acme", run: "run_1" }`. */
export type Tokens = Readonly<Record<string, string>>;

/** Where a message is published, as its own descriptor declares it. */
export interface ChannelTemplate {
  /** The subject for one set of tokens. Throws a RangeError when a token is missing or cannot stand in a subject. */
  subject(tokens: Tokens): string;
  /** The subject on which a committed message appears once more. Throws when the channel has none. */
  liveSubject(tokens: Tokens): string;
  /** The tokens of a concrete subject, or undefined when it is none of this channel's. */
  tokensOf(subject: string): Tokens | undefined;
  /** The subject with a wildcard for each token, and the republished one where the channel has one. */
  readonly wildcard: string;
  readonly liveWildcard: string | undefined;
  /** The destination of a republication in JetStream's notation: `live.run.{{wildcard(1)}}.log`. */
  readonly liveTransform: string | undefined;
  readonly stream: Stream | undefined;
}

/** Reads the channel that `schema` declares. Throws when it declares none: a mistake in the contracts. */
export function channelOf(schema: DescMessage): ChannelTemplate {
  if (!hasOption(schema, channel)) throw new Error(`${schema.typeName} declares no channel`);
  const { subject, liveSubject, stream } = getOption(schema, channel);
  const live = liveSubject === "" ? undefined : liveSubject;
  return {
    subject: (tokens) => fill(subject, tokens),
    liveSubject: (tokens) => {
      if (live === undefined) throw new Error(`${schema.typeName} is not republished`);
      return fill(live, tokens);
    },
    tokensOf: (concrete) => match(subject, concrete),
    wildcard: subject.replace(placeholder, "*"),
    liveWildcard: live?.replace(placeholder, "*"),
    liveTransform: live && transform(live),
    stream,
  };
}

/** The key-value bucket in which a message is kept, as its own descriptor declares it. */
export interface BucketTemplate {
  readonly name: string;
  /** How many versions of a key are kept. */
  readonly history: number;
  /** How long a version is kept, in milliseconds. Undefined: for ever. */
  readonly maxAgeMs: number | undefined;
  key(tokens: Tokens): string;
  tokensOf(key: string): Tokens | undefined;
}

/** Reads the bucket that `schema` declares. Throws when it declares none: a mistake in the contracts. */
export function bucketOf(schema: DescMessage): BucketTemplate {
  if (!hasOption(schema, bucket)) throw new Error(`${schema.typeName} declares no bucket`);
  const { name, key, history, maxAge } = getOption(schema, bucket);
  return {
    name,
    history: Math.max(history, 1),
    maxAgeMs: maxAge && durationMs(maxAge),
    key: (tokens) => fill(key, tokens),
    tokensOf: (concrete) => match(key, concrete),
  };
}

const placeholder = /\{(\w+)\}/g;
const token = /^[A-Za-z0-9_=-]+$/;

function fill(template: string, tokens: Tokens): string {
  return template.replace(placeholder, (_, name: string) => {
    const value = tokens[name];
    if (value === undefined || !token.test(value)) {
      throw new RangeError(`"${value ?? ""}" cannot stand for ${name} in ${template}`);
    }
    return value;
  });
}

function match(template: string, concrete: string): Tokens | undefined {
  const expected = template.split(".");
  const actual = concrete.split(".");
  if (expected.length !== actual.length) return undefined;
  const tokens: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = actual[index] ?? "";
    if (part.startsWith("{")) tokens[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return tokens;
}

function transform(live: string): string {
  let position = 0;
  return live.replace(placeholder, () => `{{wildcard(${++position})}}`);
}
