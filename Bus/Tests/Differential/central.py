"""A central: discovery, a connection, values, notifications and sockets; and calls that fail."""
import os
import pathlib

from dbus_fast import Variant
from recorder import ADAPTER, ADAPTER1, CHARACTERISTIC1, DESCRIPTOR1, DEVICE1, PROPERTIES, device

DEVICE = device(1)
DOCUMENT = pathlib.Path(__file__).parents[1] / "Integration/thermometer.json"


async def record(recorder):
    recorder.serve(1, DOCUMENT)
    call, wait_for = recorder.call, recorder.wait_for

    # The standard interfaces.
    await call(ADAPTER, PROPERTIES, "Get", "ss", "org.bluez.None1", "Powered")
    await call(ADAPTER, PROPERTIES, "Get", "ss", ADAPTER1, "None")
    await call(ADAPTER, PROPERTIES, "Set", "ssv", ADAPTER1, "Discovering", Variant("b", True))
    await call(ADAPTER, PROPERTIES, "Set", "ssv", ADAPTER1, "Powered", Variant("s", "yes"))
    await call(ADAPTER, ADAPTER1, "None")
    await call(ADAPTER, ADAPTER1, "StartDiscovery", "s", "argument")
    await call("/org/bluez/none", DEVICE1, "Connect")
    await call(ADAPTER, ADAPTER1, "GetDiscoveryFilters")

    # Discovery.
    await call(ADAPTER, ADAPTER1, "StopDiscovery")
    await call(ADAPTER, ADAPTER1, "SetDiscoveryFilter", "a{sv}", {"RSSI": Variant("s", "loud")})
    await call(ADAPTER, ADAPTER1, "SetDiscoveryFilter", "a{sv}", {"None": Variant("b", True)})
    await call(ADAPTER, ADAPTER1, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
    await call(ADAPTER, ADAPTER1, "StartDiscovery")
    await wait_for(DEVICE, "InterfacesAdded")
    await call(ADAPTER, ADAPTER1, "StartDiscovery")
    await call(ADAPTER, ADAPTER1, "StopDiscovery")
    await wait_for(ADAPTER, "Discovering", False)
    await call(ADAPTER, ADAPTER1, "StopDiscovery")

    # Connecting.
    await call(DEVICE, DEVICE1, "Disconnect")
    await call(DEVICE, DEVICE1, "CancelPairing")
    await call(DEVICE, DEVICE1, "Connect")
    await wait_for(DEVICE, "ServicesResolved")
    # The battery level has been read.
    await wait_for(DEVICE, "InterfacesAdded")
    await call(DEVICE, DEVICE1, "Connect")
    await call(DEVICE, DEVICE1, "ConnectProfile", "s", "0000110b-0000-1000-8000-00805f9b34fb")

    # Values.
    value, measurement = await recorder.find(CHARACTERISTIC1, "2a1e"), await recorder.find(CHARACTERISTIC1, "2a1c")
    configuration = await recorder.find(DESCRIPTOR1, "2902", value)
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {"offset": Variant("q", 1)})
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {"offset": Variant("q", 100)})
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {"offset": Variant("s", "1")})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x03\x04", {})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x05\x06", {"type": Variant("s", "request")})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x07\x08", {"type": Variant("s", "command")})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x07\x08", {"type": Variant("s", "none")})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", bytes(600), {"type": Variant("s", "request")})
    await call(measurement, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    await call(measurement, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x01", {})
    await call(measurement, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x01", {"type": Variant("s", "request")})
    await call(measurement, CHARACTERISTIC1, "AcquireWrite", "a{sv}", {})
    await call(configuration, DESCRIPTOR1, "ReadValue", "a{sv}", {})
    await call(configuration, DESCRIPTOR1, "WriteValue", "aya{sv}", b"\x01\x00", {})

    # Notifications.
    await call(value, CHARACTERISTIC1, "StopNotify")
    await call(value, CHARACTERISTIC1, "StartNotify")
    await call(value, CHARACTERISTIC1, "StartNotify")
    await call(value, CHARACTERISTIC1, "AcquireNotify", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "StopNotify")
    await recorder.settle()
    reply = await call(value, CHARACTERISTIC1, "AcquireNotify", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "StartNotify")
    await call(value, CHARACTERISTIC1, "AcquireNotify", "a{sv}", {})
    for descriptor_number in reply.unix_fds:
        os.close(descriptor_number)
    await wait_for(value, "NotifyAcquired", False)
    reply = await call(value, CHARACTERISTIC1, "AcquireWrite", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x01", {})
    await call(value, CHARACTERISTIC1, "AcquireWrite", "a{sv}", {})
    for descriptor_number in reply.unix_fds:
        os.close(descriptor_number)
    await wait_for(value, "WriteAcquired", False)

    # The end of the link.
    await call(DEVICE, DEVICE1, "Disconnect")
    await wait_for(DEVICE, "Connected", False)
    await call(DEVICE, DEVICE1, "Disconnect")
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    await call(value, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\x01", {})
    await call(ADAPTER, ADAPTER1, "RemoveDevice", "o", DEVICE)
    await recorder.settle()
    await call(ADAPTER, ADAPTER1, "RemoveDevice", "o", DEVICE)

    # Managers.
    agents = "org.bluez.AgentManager1"
    await call("/org/bluez", agents, "RegisterAgent", "os", "/agent", "Telepathy")
    await call("/org/bluez", agents, "RequestDefaultAgent", "o", "/agent")
    await call("/org/bluez", agents, "RegisterAgent", "os", "/agent", "NoInputNoOutput")
    await wait_for(ADAPTER, "Pairable")
    await call("/org/bluez", agents, "RegisterAgent", "os", "/agent", "NoInputNoOutput")
    await call("/org/bluez", agents, "UnregisterAgent", "o", "/other")
    await call("/org/bluez", agents, "UnregisterAgent", "o", "/agent")
    await wait_for(ADAPTER, "Pairable", False)
    await call("/org/bluez", agents, "UnregisterAgent", "o", "/agent")
    await call(ADAPTER, "org.bluez.GattManager1", "UnregisterApplication", "o", "/application")
    await call(ADAPTER, "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", "/application", {})
    await call(ADAPTER, "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement", "o", "/advertisement")
    await call(ADAPTER, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", "oa{sv}", "/advertisement", {})
