import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Tokens } from "@reeve/contracts/channel";

/** How the events of one kind of log travel: in which message, and under which key. */
export interface LogDefinition<Key, Event, Schema extends DescMessage> {
  readonly schema: Schema;
  tokens(key: Key): Tokens;
  /** The key that has these tokens; undefined when one is missing. */
  keyOf(tokens: Tokens): Key | undefined;
  batch(firstSequence: number, events: readonly Event[]): MessageShape<Schema>;
  eventsOf(batch: MessageShape<Schema>): { firstSequence: number; events: readonly Event[] };
  /** The kinds of the events, for projections that read no payload. */
  kinds(events: readonly Event[]): readonly string[];
}
