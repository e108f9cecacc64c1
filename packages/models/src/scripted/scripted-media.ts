import { setImmediate } from "node:timers/promises";
import type { MediaGenerator, MediaPart, MediaRequest } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { sleep } from "@reeve/platform/async/sleep";
import { silence } from "./media/silence.ts";
import { plainPng } from "./media/plain-png.ts";
import type { Script, ScriptMedia } from "./script.ts";

/** Generates what the section `media` of a script says, without a provider: images of one color, and silence. */
export function scriptedMedia(scripts: ReadonlyMap<string, Script>): MediaGenerator {
  return {
    async *generate(request, signal) {
      const { upstreamName } = request.model;
      const script = scripts.get(upstreamName);
      if (script?.media === undefined) {
        throw new ModelFailure("invalid", `no script ${upstreamName} has the section media`);
      }
      yield* played(script.media, request, signal);
    },
  };
}

async function* played(
  media: ScriptMedia,
  request: MediaRequest,
  signal: AbortSignal,
): AsyncIterable<MediaPart> {
  const { delayMs, partials, fail, usage } = media;
  if (request.kind === "image") {
    assertPng(request);
    for (let number = 1; number <= partials; number++) {
      await pause(delayMs, signal);
      yield { kind: "partial", bytes: plainPng(media, `partial ${number}`) };
    }
  }
  await pause(delayMs, signal);
  if (fail !== undefined) {
    const { reason, message, ...options } = fail;
    throw new ModelFailure(reason, message, options);
  }
  const count = request.kind === "image" ? request.count : 1;
  for (let number = 1; number <= count; number++) {
    yield { kind: "file", bytes: fileOf(media, request, number) };
  }
  yield { kind: "usage", ...usage };
}

function fileOf(media: ScriptMedia, request: MediaRequest, number: number): Uint8Array {
  if (request.kind === "speech") return silence(request.format);
  return plainPng(media, `${request.prompt} ${number}`);
}

function assertPng({ format }: MediaRequest): void {
  if (format === "png") return;
  throw new ModelFailure("unsupported", `a script generates png only, and not ${format}`);
}

/** Yields to the event loop even without a delay, so that an abort takes effect. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) return await sleep(delayMs, signal);
  await setImmediate();
  signal.throwIfAborted();
}
