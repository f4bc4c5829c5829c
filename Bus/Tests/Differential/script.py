#!/usr/bin/env python3
"""Makes the same calls to org.bluez each time, and prints every reply, error and signal in the order in which they
arrive, as lines of JSON.

    BLE=… PEERS="SOCKET SOCKET SOCKET" Bus/Tests/Differential/script.py NAME >NAME.jsonl

NAME is a module beside this file. The script starts the other side itself: $BLE is the tool, and $PEERS are virtual
controllers in range of the daemon's.
"""
import asyncio
import importlib
import json
import sys

from recorder import Recorder


async def main(name):
    recorder = await Recorder.connect(sys.stdout)
    try:
        await importlib.import_module(name).record(recorder)
    finally:
        recorder.close()


if __name__ == "__main__":
    try:
        asyncio.run(asyncio.wait_for(main(sys.argv[1]), 400))
    except Exception as error:  # The recording so far is worth reading.
        print(json.dumps({"failed": repr(error)}), flush=True)
        raise
