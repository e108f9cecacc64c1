/** Saves bytes on the machine of the reader. They get no type, so that the browser never opens them. */
export function saveAs(chunks: BlobPart[], name: string): void {
  const url = URL.createObjectURL(new Blob(chunks, { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
