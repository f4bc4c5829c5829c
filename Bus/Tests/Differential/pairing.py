"""Pairing as a central, with agents that confirm, refuse and display."""
import pathlib

from recorder import ADAPTER, ADAPTER1, CHARACTERISTIC1, DEVICE1, Failure, device

AGENT, AGENTS = "/agent", "org.bluez.AgentManager1"
DOCUMENT = pathlib.Path(__file__).parents[1] / "Integration/thermometer.json"
JUST_WORKS, COMPARING, SECURED = map(device, (1, 2, 3))


async def pair(recorder, path):
    """Pairs, until the battery level has been read."""
    await recorder.call(path, DEVICE1, "Pair")
    await recorder.wait_for(path, "InterfacesAdded")
    await recorder.call(path, DEVICE1, "CancelPairing")


async def end(recorder, path):
    await recorder.call(path, DEVICE1, "Disconnect")
    await recorder.wait_for(path, "Connected", False)
    await remove(recorder, path)


async def remove(recorder, path):
    await recorder.call(ADAPTER, ADAPTER1, "RemoveDevice", "o", path)
    await recorder.settle()


async def record(recorder):
    call, wait_for = recorder.call, recorder.wait_for
    recorder.serve(1, DOCUMENT, "--pair", "--accept", "--io", "none")
    recorder.serve(2, DOCUMENT, "--pair", "--accept", "--io", "display-yes-no", "--replace-bonds")
    recorder.serve(3, pathlib.Path(__file__).with_name("secured.json"), "--pair", "--accept", "--io", "none")
    await recorder.discover(JUST_WORKS, COMPARING)

    # Services are discovered meanwhile, in an order that depends on the device.
    recorder.ignored = ("/service",)
    await call("/org/bluez", AGENTS, "RegisterAgent", "os", AGENT, "KeyboardDisplay")
    await call("/org/bluez", AGENTS, "RequestDefaultAgent", "o", AGENT)
    await wait_for(ADAPTER, "Pairable")

    # Without an agent's answer.
    await pair(recorder, JUST_WORKS)
    await end(recorder, JUST_WORKS)

    # A number that the agent confirms.
    recorder.answers[(AGENT, "RequestConfirmation")] = lambda message: None
    await pair(recorder, COMPARING)
    await end(recorder, COMPARING)

    # A number that the agent refuses.
    def refuse(message):
        raise Failure("org.bluez.Error.Rejected", "different")
    recorder.answers[(AGENT, "RequestConfirmation")] = refuse
    await recorder.discover(COMPARING)
    await call(COMPARING, DEVICE1, "Pair")
    # BlueZ 5.66 keeps the link, and discovers services. 5.87 ends it.
    event = await recorder.wait_for_any((COMPARING, "InterfacesAdded", True), (COMPARING, "Connected", False))
    if event[1] == "InterfacesAdded":
        await end(recorder, COMPARING)
    else:
        await remove(recorder, COMPARING)

    # A value that needs a bond.
    await recorder.discover(SECURED)
    await call(SECURED, DEVICE1, "Connect")
    await wait_for(SECURED, "ServicesResolved")
    value = await recorder.find(CHARACTERISTIC1, "2a1e", SECURED)
    recorder.answers[(AGENT, "RequestAuthorization")] = lambda message: None
    await call(value, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
    await recorder.settle()
    await end(recorder, SECURED)
    await call("/org/bluez", AGENTS, "UnregisterAgent", "o", AGENT)
    await wait_for(ADAPTER, "Pairable", False)
