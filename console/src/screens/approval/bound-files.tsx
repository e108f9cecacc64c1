import type { BoundFile } from "@reeve/contracts/tool";

interface BoundFilesProps {
  readonly files: readonly BoundFile[];
}

/** The files to which an approval is bound: path, size, digest, and start of each, and what it was before it changed. */
export function BoundFiles({ files }: BoundFilesProps) {
  // A word of a command that is no file says nothing.
  const shown = files.filter(({ state, previous }) => state !== "absent" || previous !== undefined);
  if (shown.length === 0) return null;
  return (
    <section className="bound-files" aria-label="Files of the call">
      <h3>Files</h3>
      {shown.map((file) => (
        <div key={file.path}>
          <p>
            <span className="mono">{file.path}</span>{" "}
            <span className="muted">
              {summaryOf(file)}
              {file.previous !== undefined && ", changed since the last approval"}
            </span>
          </p>
          {file.previous !== undefined && (
            <pre className="json" tabIndex={0} role="region" aria-label={`${file.path} before`}>
              {file.previous.preview}
            </pre>
          )}
          {file.preview !== "" && (
            <pre className="json" tabIndex={0} role="region" aria-label={`${file.path} now`}>
              {file.preview}
            </pre>
          )}
        </div>
      ))}
    </section>
  );
}

function summaryOf({ state, sizeBytes, sha256 }: BoundFile): string {
  return state === "file" ? `${sizeBytes} bytes, SHA-256 ${sha256.slice(0, 12)}` : state;
}
