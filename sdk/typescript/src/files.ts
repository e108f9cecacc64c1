import { basename } from "node:path";
import type { FileEntry } from "#contracts/tool";
import type { CallOptions, ListFilesOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";
import type { Content, FileDownload } from "./transfer.ts";
import { openDownload, uploadArtifact } from "./transfer.ts";

/** A file up to this size fits into one message. */
const maxMessageContent = 512 * 1024;

/** The files in the workspace of a run. Paths are relative to the workspace. */
export class Files {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  list(runId: string, options: ListFilesOptions = {}): AsyncGenerator<FileEntry, void, undefined> {
    const { path = "", recursive = false } = options;
    return this.#requests.list(async ({ files }, page, call) => {
      const request = { runId, path, recursive, ...page };
      const { entries: items, nextPageToken } = await files.listFiles(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Opens a file for reading. */
  async read(runId: string, path: string, options: CallOptions = {}): Promise<FileDownload> {
    return await this.#open({ runId, path }, options);
  }

  /** Returns the size and the kind of a file, without its content. */
  async stat(runId: string, path: string, options: CallOptions = {}): Promise<FileEntry> {
    const { file, chunks } = await this.#open({ runId, path, length: 0n }, options);
    await chunks.return();
    return file;
  }

  /** Writes a file, and returns its size in bytes. Not repeated if the connection breaks. */
  async write(
    runId: string,
    path: string,
    content: Content,
    options: CallOptions = {},
  ): Promise<number> {
    const source = await this.#sourceOf(basename(path), content, options);
    const { sizeBytes } = await this.#requests.once(
      ({ files }, call) => files.writeFile({ runId, path, source }, call),
      options,
    );
    return Number(sizeBytes);
  }

  async #sourceOf(name: string, content: Content, options: CallOptions) {
    if (content instanceof Uint8Array && content.length <= maxMessageContent) {
      return { case: "content", value: content } as const;
    }
    const { artifactId } = await uploadArtifact(this.#requests, { name, content }, options);
    return { case: "artifactId", value: artifactId } as const;
  }

  async #open(
    request: { readonly runId: string; readonly path: string; readonly length?: bigint },
    options: CallOptions,
  ): Promise<FileDownload> {
    const messages = this.#requests.stream(
      ({ files }, call) => files.readFile(request, call),
      options,
      this.#requests.settings.transferTimeoutMs,
    );
    const { description, chunks } = await openDownload<FileEntry>(messages, request.path);
    return { file: description, chunks };
  }
}
