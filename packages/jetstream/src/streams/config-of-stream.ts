import type { StreamAPI, StreamConfig } from "@nats-io/jetstream";
import { isNotFound } from "./errors.ts";

/** Returns the settings of a stream, or undefined if there is none. */
export async function configOfStream(
  streams: StreamAPI,
  name: string,
): Promise<StreamConfig | undefined> {
  try {
    return (await streams.info(name)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
