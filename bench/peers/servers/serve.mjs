import { createServer } from "node:http";

/**
 * Serves `POST /` with the name of a model as its body: runs the agent and streams its text as it arrives. Prints its address.
 * `run` gets the name of the model and a function that writes text. The process ends with its parent.
 */
export function serve(run) {
  const answer = async (request, response) => {
    let model = "";
    for await (const part of request) model += part;
    response.writeHead(200, { "content-type": "text/plain" });
    await run(model, (text) => response.write(text));
    response.end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  // The rounds of the other peers lie between two requests.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
  process.on("disconnect", () => process.exit());
}
