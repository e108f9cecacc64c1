"""An MCP server for tests that reports what it can access. Uses only the standard library."""

import json
import os
import socket
import sys


def attempt(action):
    try:
        return action()
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror}"


def write(path):
    with open(path, "w") as file:
        return str(file.write("written"))


TOOLS = {
    "read": lambda args: open(args["path"]).read(),
    "write": lambda args: write(args["path"]),
    "list": lambda args: " ".join(sorted(os.listdir(args["path"]))),
    "connect": lambda args: str(socket.create_connection(("127.0.0.1", args["port"]), timeout=5)),
    "environment": lambda args: json.dumps(dict(os.environ), sort_keys=True),
    "ids": lambda args: f"{os.getuid()} {os.getgid()}",
    "processes": lambda args: " ".join(p for p in os.listdir("/proc") if p.isdigit()),
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "curious", "version": "1"},
        }
    if method == "tools/list":
        schema = {"type": "object"}
        return {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}
    if method == "tools/call":
        text = attempt(lambda: TOOLS[params["name"]](params.get("arguments", {})))
        return {"content": [{"type": "text", "text": text}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
