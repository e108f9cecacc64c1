"""Drives an agent with the A2A project's client for Python over gRPC. Prints what it observed as one JSON object.

Usage: python_grpc_client.py URL TOKEN
"""

import asyncio
import json
import sys

import grpc.aio
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import ClientCallContext
from a2a.helpers import get_artifact_text, new_text_part
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import A2AError


def request(message_id: str, text: str, **ids: str) -> SendMessageRequest:
    parts = [new_text_part(text)]
    return SendMessageRequest(
        message=Message(message_id=message_id, role=Role.ROLE_USER, parts=parts, **ids)
    )


async def drive(url: str, token: str) -> dict:
    headers = {"authorization": f"Bearer {token}"}
    context = ClientCallContext(service_parameters=headers)
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    config = ClientConfig(
        supported_protocol_bindings=["GRPC"],
        grpc_channel_factory=grpc.aio.insecure_channel,
    )
    client = ClientFactory(config).create(card)
    text, task, states = "", None, []
    async for event in client.send_message(request("py-grpc-1", "todo"), context=context):
        if event.WhichOneof("payload") == "task":
            task = event.task
        elif event.WhichOneof("payload") == "status_update":
            states.append(TaskState.Name(event.status_update.status.state))
        elif event.WhichOneof("payload") == "artifact_update":
            piece = get_artifact_text(event.artifact_update.artifact)
            text = text + piece if event.artifact_update.append else piece
    read = await client.get_task(GetTaskRequest(id=task.id), context=context)
    hanging = client.send_message(request("py-grpc-2", "hang"), context=context)
    other = (await anext(hanging)).task
    await hanging.aclose()
    watched = client.subscribe(SubscribeToTaskRequest(id=other.id), context=context)
    again = (await anext(watched)).task
    canceled = await client.cancel_task(CancelTaskRequest(id=other.id), context=context)
    return {
        "last_state": states[-1],
        "text": text,
        "reads_the_same": get_artifact_text(read.artifacts[0]) == text,
        "same_task": again.id == other.id,
        "canceled": TaskState.Name(canceled.status.state),
        "again": await refusal(client.cancel_task(CancelTaskRequest(id=other.id), context=context)),
        "unknown": await refusal(client.get_task(GetTaskRequest(id="none"), context=context)),
    }


async def refusal(call) -> str:
    """Returns the class of the error by which the client reports a refusal."""
    try:
        await call
    except A2AError as error:
        return type(error).__name__
    return "none"


print(json.dumps(asyncio.run(drive(*sys.argv[1:]))))
