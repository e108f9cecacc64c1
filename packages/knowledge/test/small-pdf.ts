/**
 * Returns a PDF with one page for each list of lines. Lines have no parentheses. Pages draw `deflated` in place of their lines, if it is
 * given.
 */
export function smallPdf(pages: readonly (readonly string[])[], deflated?: Uint8Array): Uint8Array {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  for (const [index, lines] of pages.entries()) {
    const shown = lines.map((line) => `(${line}) Tj T*`).join(" ");
    const content = `BT /F1 12 Tf 72 720 Td 14 TL ${shown} ET`;
    const resources = "/Resources << /Font << /F1 3 0 R >> >>";
    const contents = `/Contents ${5 + 2 * index} 0 R`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] ${resources} ${contents} >>`,
    );
    const stream = deflated === undefined ? content : Buffer.from(deflated).toString("latin1");
    const filter = deflated === undefined ? "" : " /Filter /FlateDecode";
    objects.push(`<< /Length ${stream.length}${filter} >>\nstream\n${stream}\nendstream`);
  }
  let text = "%PDF-1.4\n";
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const end = `trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(`${text}xref\n0 ${size}\n0000000000 65535 f \n${table}${end}`, "latin1");
}
