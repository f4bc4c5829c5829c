"""A passive scan: monitors of advertisements."""
import pathlib

from dbus_fast import Variant
from recorder import ADAPTER

MANAGER1, MONITOR1 = "org.bluez.AdvertisementMonitorManager1", "org.bluez.AdvertisementMonitor1"
ROOT, MONITOR, INVALID = "/monitors", "/monitors/1", "/monitors/2"
DOCUMENT = pathlib.Path(__file__).parents[1] / "Integration/thermometer.json"


def monitor(kind):
    # The name, from its first octet.
    return {MONITOR1: {"Type": Variant("s", kind), "Patterns": Variant("a(yyay)", [[0, 0x09, b"Thermo"]])}}


async def record(recorder):
    call, wait_for = recorder.call, recorder.wait_for
    for path in (MONITOR, INVALID):
        for member in ("Activate", "Release", "DeviceFound", "DeviceLost"):
            recorder.answers[(path, member)] = lambda message: None
    objects = {MONITOR: monitor("or_patterns")}
    recorder.answers[(ROOT, "GetManagedObjects")] = lambda message: ("a{oa{sa{sv}}}", [objects])
    await call(ADAPTER, MANAGER1, "UnregisterMonitor", "o", ROOT)
    await call(ADAPTER, MANAGER1, "RegisterMonitor", "o", ROOT)
    await wait_for(MONITOR, "Activate")
    await call(ADAPTER, MANAGER1, "RegisterMonitor", "o", ROOT)
    recorder.serve(1, DOCUMENT)
    await wait_for(MONITOR, "DeviceFound")
    await recorder.settle()
    await call(ADAPTER, MANAGER1, "UnregisterMonitor", "o", ROOT)
    await recorder.settle()
    objects = {INVALID: monitor("none")}
    await call(ADAPTER, MANAGER1, "RegisterMonitor", "o", ROOT)
    await wait_for(INVALID, "Release")
    await call(ADAPTER, MANAGER1, "UnregisterMonitor", "o", ROOT)
    await recorder.settle()
