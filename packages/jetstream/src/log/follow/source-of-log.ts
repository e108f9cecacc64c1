import type { DescMessage } from "@bufbuild/protobuf";
import type { Tail } from "../port.ts";
import { emptyTail } from "../port.ts";
import type { RangeReader } from "../reading/range-reader.ts";
import type { FollowSource } from "./follow-subject.ts";
import type { LiveSource } from "./live-batches.ts";
import { liveHubOf } from "./live-hub.ts";

/** A log in a stream. */
interface FollowedLog<Key, Event, Schema extends DescMessage> extends LiveSource {
  readonly ranges: RangeReader<Key, Event, Schema>;
  readonly subject: string;
  readonly expires: boolean;
}

/**
 * Returns what a follower reads of a log after a position, which is a tail or the sequence of an event. A log that this process has
 * written from its start is not read for a follower from its start.
 */
export function sourceOfLog<Key, Event, Schema extends DescMessage>(
  { ranges, subject, ...live }: FollowedLog<Key, Event, Schema>,
  after: number | Tail,
  signal: AbortSignal,
): FollowSource<Event> {
  const isFromStart = (typeof after === "number" ? after : after.sequence) === 0;
  const held = () => (isFromStart ? liveHubOf(live.connection)?.written.get(subject) : undefined);
  const readFirst = () =>
    typeof after === "number"
      ? ranges.readAfter(subject, after, signal)
      : ranges.readFollowed(subject, after, signal);
  return {
    ...live,
    readFirst: async () => {
      const batches = held();
      return batches === undefined
        ? await readFirst()
        : { batches, after: emptyTail, isComplete: true };
    },
    read: (tail) => ranges.readFollowed(subject, tail, signal),
    rangeOf: (tail, batches) => ranges.rangeOf(subject, tail, batches, signal),
  };
}
