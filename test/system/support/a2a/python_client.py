"""Drives an agent with the A2A project's client for Python, over each binding. Prints what it observed as one JSON object.

Usage: python_client.py URL TOKEN
"""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import get_artifact_text, new_data_part, new_text_part
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict
from jwt import PyJWK

BINDINGS = ("JSONRPC", "HTTP+JSON")


def request(message_id: str, part: Part, **ids: str) -> SendMessageRequest:
    message = Message(message_id=message_id, role=Role.ROLE_USER, parts=[part], **ids)
    return SendMessageRequest(message=message)


def state_of(task: Task) -> str:
    return TaskState.Name(task.status.state)


class Conversation:
    """The client of one binding, with the token of its caller."""

    def __init__(self, card: AgentCard, binding: str, http: httpx.AsyncClient) -> None:
        self.binding = binding
        self.sent = 0
        streaming, whole = (
            ClientFactory(
                ClientConfig(
                    httpx_client=http,
                    supported_protocol_bindings=[binding],
                    streaming=streaming,
                )
            ).create(card)
            for streaming in (True, False)
        )
        self.client = streaming
        self.whole = whole

    def request(self, part: Part, **ids: str) -> SendMessageRequest:
        self.sent += 1
        return request(f"python-{self.binding}-{self.sent}", part, **ids)

    async def say(self, part: Part, **ids: str) -> Task:
        """Sends a message, and returns the task in the one answer."""
        async for event in self.whole.send_message(self.request(part, **ids)):
            return event.task
        raise RuntimeError("no answer")

    async def follow(self, events) -> dict:
        """Reads a stream to its end. An update without `append` replaces the answer."""
        kinds, states, text, task_id = [], [], "", ""
        async for event in events:
            kind = event.WhichOneof("payload")
            kinds.append(kind)
            if kind == "task":
                task_id = event.task.id
                states.append(state_of(event.task))
                text = "".join(map(get_artifact_text, event.task.artifacts))
            elif kind == "status_update":
                states.append(TaskState.Name(event.status_update.status.state))
            elif kind == "artifact_update":
                update = event.artifact_update
                piece = get_artifact_text(update.artifact)
                text = text + piece if update.append else piece
        return {"first": kinds[0], "last_state": states[-1], "text": text, "task_id": task_id}

    async def turns(self) -> dict:
        first = await self.say(new_text_part("hello"))
        context_id = first.context_id
        todo = self.request(new_text_part("todo"), context_id=context_id)
        streamed = await self.follow(self.client.send_message(todo))
        last = await self.say(new_text_part("again"), context_id=context_id)
        read = await self.client.get_task(GetTaskRequest(id=last.id))
        listed = await self.client.list_tasks(ListTasksRequest(context_id=context_id))
        ids = {first.id, streamed.pop("task_id"), last.id}
        return {
            "first": get_artifact_text(first.artifacts[0]),
            "streamed": streamed,
            "last": get_artifact_text(last.artifacts[0]),
            "reads_the_same": read == last,
            "lists_the_same": {task.id for task in listed.tasks} == ids,
        }

    async def approval(self) -> dict:
        waiting = await self.say(new_text_part("write"))
        asked = MessageToDict(waiting.status.message.parts[1].data)
        decision = new_data_part({"approvalId": asked["approvalId"], "decision": "approve"})
        answer = self.request(decision, task_id=waiting.id)
        streamed = await self.follow(self.client.send_message(answer))
        return {
            "waiting": state_of(waiting),
            "tool": asked["tool"],
            "same_task": streamed.pop("task_id") == waiting.id,
            "streamed": streamed,
        }

    async def cancel(self) -> dict:
        events = self.client.send_message(self.request(new_text_part("hang")))
        task_id = (await anext(events)).task.id
        await events.aclose()
        watched = self.client.subscribe(SubscribeToTaskRequest(id=task_id))
        first = (await anext(watched)).task
        canceled = await self.client.cancel_task(CancelTaskRequest(id=task_id))
        states = [TaskState.Name(event.status_update.status.state) async for event in watched]
        return {
            "same_task": first.id == task_id,
            "canceled": state_of(canceled),
            "last_state": states[-1],
            "again": await refusal(self.client.cancel_task(CancelTaskRequest(id=task_id))),
            "unknown": await refusal(self.client.get_task(GetTaskRequest(id="none"))),
        }


async def refusal(call) -> str:
    """Returns the class of the error by which the client reports a refusal."""
    try:
        await call
    except A2AError as error:
        return type(error).__name__
    return "none"


async def drive(url: str, token: str) -> dict:
    headers = {"authorization": f"Bearer {token}"}

    def key_of(kid: str | None, jku: str | None) -> PyJWK:
        keys = httpx.get(jku or "", headers=headers).json()["keys"]
        return PyJWK(next(key for key in keys if key["kid"] == kid))

    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        # Cards of 0.3 are not signed.
        old_card = await A2ACardResolver(http, f"{url}v0.3").get_agent_card()
        legacy = Conversation(old_card, "JSONRPC", http)
        todo = request("python-0.3", new_text_part("todo"))
        verify = create_signature_verifier(key_of, ["EdDSA"])
        card = await A2ACardResolver(http, url).get_agent_card(signature_verifier=verify)
        seen = {"card": card.name, "0.3": await legacy.follow(legacy.client.send_message(todo))}
        for binding in BINDINGS:
            conversation = Conversation(card, binding, http)
            seen[binding] = {
                "turns": await conversation.turns(),
                "approval": await conversation.approval(),
                "cancel": await conversation.cancel(),
            }
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive(*sys.argv[1:]))))
