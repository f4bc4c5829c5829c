"""A device with a PnP ID, and with a value that is written reliably."""
import pathlib

from dbus_fast import Variant
from recorder import CHARACTERISTIC1, DEVICE1, device

DEVICE = device(1)
DOCUMENT = pathlib.Path(__file__).with_name("information.json")


async def record(recorder):
    recorder.serve(1, DOCUMENT)
    call, wait_for = recorder.call, recorder.wait_for
    await recorder.discover(DEVICE)
    await call(DEVICE, DEVICE1, "Connect")
    await wait_for(DEVICE, "ServicesResolved")
    await wait_for(DEVICE, "Modalias", "usb:v1D6Bp0246d0540")
    value = await recorder.find(CHARACTERISTIC1, "2a1e")
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x01\x02\x03\x04", {})
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    for kind in ("request", "reliable"):
        await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x09\x08",
                   {"type": Variant("s", kind), "offset": Variant("q", 1)})
        await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x09",
               {"type": Variant("s", "reliable"), "offset": Variant("q", 400)})
    await call(DEVICE, DEVICE1, "Disconnect")
    await wait_for(DEVICE, "Connected", False)
    # The PnP ID is remembered.
    await call(DEVICE, DEVICE1, "Connect")
    await wait_for(DEVICE, "ServicesResolved")
    await recorder.settle()
