"""What a client without an engine around it reaches: the limit that debates are measured against.

    python tests/bench/bare_client.py BASE_URL CALLS IN_FLIGHT

Sends the prompts of an ECJ debate by the client library over aiohttp, with typed requests; prints
one JSON object.
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import openai

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.types import Reply
from labelhub.core.prompts import PromptLibrary
from labelhub.core.schema import schema_from_names

LABELS = ("Food", "Service", "Price", "Rooms", "Place")
SEED = 7
ROOT = Path(__file__).resolve().parent.parent.parent
ROLES = ("extractor", "critic", "judge")
SAID = 'The words that count are those about Food.\n- Food: "words"\nFinal Decision: Food'


def texts_of_words(count: int) -> list[str]:
    """``count`` different texts of 30 words; the same every time."""
    rng = random.Random(SEED)  # noqa: S311 - data, not secrets
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(2000)]
    return [" ".join(rng.choices(known, k=30)).capitalize() + "." for _ in range(count)]


def requests(count: int) -> list[dict[str, Any]]:
    """``count`` request bodies, a third for each role."""
    library = PromptLibrary(ROOT / "prompts")
    prompts = {role: library.get("ecj", role) for role in ROLES}
    schema = schema_from_names("single", LABELS)
    found: list[dict[str, Any]] = []
    for text in texts_of_words(-(-count // 3)):
        caller = Caller(item=DebateItem("", text), schema=schema, prompts=prompts, salt="bench")
        for index, role in enumerate(ROLES):
            call = caller(role, heard={name: Reply(SAID) for name in ROLES[:index]})
            messages = [
                {"role": message.role, "content": message.content} for message in call.messages
            ]
            found.append({"model": "fake-model", "messages": messages, "max_tokens": 1024})
    return found[:count]


async def measure(base_url: str, bodies: list[dict[str, Any]], width: int) -> float:
    """Seconds that the bodies take."""
    queue = iter(bodies)
    async with openai.AsyncOpenAI(
        api_key="none",
        base_url=base_url,
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(),
    ) as client:

        async def work() -> None:
            for body in queue:
                answer = await client.chat.completions.with_raw_response.create(**body)
                json.loads(answer.content)["choices"][0]["message"]["content"]

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(width)))
        return time.perf_counter() - began


def main(base_url: str, calls: int, width: int) -> None:
    """Warm up, so that imports and connections do not count, then measure."""
    bodies = requests(calls)
    asyncio.run(measure(base_url, bodies[:width], width))
    cpu = time.process_time()
    seconds = asyncio.run(measure(base_url, bodies, width))
    cpu = time.process_time() - cpu
    print(json.dumps({"calls_per_s": calls / seconds, "cpu_ms": 1000 * cpu / calls}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
