"""An adapter that comes back with another number."""

from __future__ import annotations

from conftest import AgentFactory
from support.processes import BINARIES, Process, until
from support.radio import Radio, present


async def test_an_adapter_is_found_again_under_another_number(radio: Radio, agents: AgentFactory) -> None:
    # btvirt derives addresses from the numbers; the controllers of our radio keep theirs.
    before = present()
    own = await Process.start("radio", BINARIES / "ble", "radio", "vhci", "vhci")
    await until(lambda: len(present()) == len(before) + 2, "the adapters of our radio")
    last = present()[-1].removeprefix("hci")
    peripheral = await agents(f"hci-socket:{last}")
    address = (await peripheral("information"))["address"]
    await peripheral("advertise", name="moved", services=["F00D"])
    await own.kill()
    await peripheral.removed()
    await until(lambda: present() == before, "the adapters of our radio to go")
    # Another adapter takes a number.
    other = Radio()
    try:
        await other.start(1)
        own = await Process.start("radio", BINARIES / "ble", "radio", "vhci", "vhci")
        await peripheral.event("ready")
        assert (await peripheral("information"))["address"] == address
        assert present()[-1] != f"hci{last}"
        central = await agents(f"hci-socket:{last}")
        assert (await central("firstSighting", services=["F00D"], timeout=20))["address"] == address
        await central.stop()
    finally:
        await peripheral.stop()
        await own.kill()
        await other.stop()
        await until(lambda: present() == before, "the adapters to go")
