// Serves the page, and passes its requests to the gateway with the token, which the browser never gets.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const { REEVE_URL, REEVE_TOKEN, PORT = "8080" } = process.env;
const pages = { "/": ["index.html", "text/html"], "/page.js": ["page.js", "text/javascript"] };

createServer(async (request, response) => {
  const path = new URL(request.url, "http://page").pathname;
  try {
    if (path in pages) {
      const [file, type] = pages[path];
      response.setHeader("content-type", `${type}; charset=utf-8`);
      return response.end(await readFile(new URL(file, import.meta.url)));
    }
    // Only the methods that the page needs.
    if (!/^\/reeve\.(tool\.v1\.ClientToolService|run\.v1\.RunService)\/[A-Za-z]+$/.test(path)) {
      return response.writeHead(404).end();
    }
    const left = new AbortController();
    response.once("close", () => left.abort());
    const answer = await fetch(REEVE_URL + path, {
      method: "POST",
      headers: {
        "content-type": request.headers["content-type"] ?? "",
        "connect-protocol-version": "1",
        authorization: `Bearer ${REEVE_TOKEN}`,
      },
      body: Readable.toWeb(request),
      duplex: "half",
      signal: left.signal,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    await pipeline(Readable.fromWeb(answer.body), response);
  } catch {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  }
}).listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
