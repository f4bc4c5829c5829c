"""Web Bluetooth in headless Chromium, unmodified. Only .ci/long runs this test, which is skipped without Chromium."""
import http.server
import json
import os
import shutil
import subprocess
import threading
import unittest

import harness
from with_libraries import thermometer

# Run in a page.
REQUEST = """
(async () => {
  window.device = await navigator.bluetooth.requestDevice(
      {filters: [{name: 'Thermometer'}], optionalServices: ['health_thermometer']});
  return device.name;
})()
"""
CYCLE = """
(async () => {
  const octets = view => Array.from(new Uint8Array(view.buffer));
  const begin = async () => {
    const server = await device.gatt.connect();
    const service = await server.getPrimaryService('health_thermometer');
    const value = await service.getCharacteristic('intermediate_temperature');
    await value.writeValueWithResponse(new Uint8Array([1, 7]));
    return value;
  };
  // A busy browser may not know yet that the last link has ended. Its `connect` then returns without connecting, its
  // services are the last ones, and the first operation fails.
  const value = await begin().catch(error => {
    if (!error.message.startsWith('GATT Server is disconnected')) throw error;
    return begin();
  });
  const first = octets(await value.readValue());
  await value.writeValueWithoutResponse(new Uint8Array([2]));
  const second = octets(await value.readValue());
  const notified = new Promise(done => value.addEventListener(
      'characteristicvaluechanged', event => done(octets(event.target.value)), {once: true}));
  await value.startNotifications();
  const third = await notified;
  await value.stopNotifications();
  device.gatt.disconnect();
  return [first, second, third];
})()
"""


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page. localhost is a secure context, which Web Bluetooth requires."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


class Chromium:
    """A browser without a window, controlled with the DevTools protocol over pipes."""

    def __init__(self, world, executable):
        commands, self.output = os.pipe()
        self.input, replies = os.pipe()
        # The browser expects commands at descriptor 3, and replies at 4.
        self.process = world.run(
            "bash", "-c", f'exec 3<&{commands} 4>&{replies} "$@"', "bash", executable, "--headless=new", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
            "--enable-experimental-web-platform-features", f"--user-data-dir={world.directory}/chromium", "about:blank",
            pass_fds=(commands, replies))
        os.close(commands)
        os.close(replies)
        self.rest, self.number = b"", 0

    def send(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        return self.number

    def receive(self):
        while b"\0" not in self.rest:
            octets = os.read(self.input, 65536)
            if not octets:
                raise AssertionError("Chromium has ended")
            self.rest += octets
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def result(self, number):
        """The result of a command. Selects the device when the page asks for one."""
        while True:
            message = self.receive()
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError(message["error"])
                return message["result"]
            if message.get("method") == "DeviceAccess.deviceRequestPrompted" and message["params"]["devices"]:
                prompt = message["params"]
                self.send("DeviceAccess.selectPrompt", message["sessionId"], id=prompt["id"],
                          deviceId=prompt["devices"][0]["id"])

    def wait_for(self, event):
        while self.receive().get("method") != event:
            pass

    def call(self, method, session=None, **parameters):
        return self.result(self.send(method, session, **parameters))

    def evaluate(self, expression, session):
        """The value of a promise, as if the user had clicked."""
        result = self.call("Runtime.evaluate", session, expression=expression, awaitPromise=True, userGesture=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"])
        return result["result"]["value"]


class WithChromium(unittest.TestCase):
    def test_web_bluetooth(self):
        executable = shutil.which("chromium") or shutil.which("google-chrome")
        if not executable:
            self.skipTest("Chromium is not installed: apt-get install chromium")
        world = harness.World()
        self.addCleanup(world.close)
        world.start()
        world.serve(thermometer(world))
        server = http.server.ThreadingHTTPServer(("localhost", 0), Page)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        browser = Chromium(world, executable)
        # A browser that hangs is ended, and reading from it then fails.
        limit = threading.Timer(2 * harness.LIMIT + 10 * harness.CYCLES, browser.process.kill)
        limit.start()
        self.addCleanup(limit.cancel)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.call("Page.enable", session)
        browser.send("Page.navigate", session, url=f"http://localhost:{server.server_port}/")
        browser.wait_for("Page.loadEventFired")
        browser.call("DeviceAccess.enable", session)
        self.assertEqual(browser.evaluate(REQUEST, session), "Thermometer")
        for _ in range(harness.CYCLES):
            self.assertEqual(browser.evaluate(CYCLE, session), [[1, 7], [2], [3, 4]])
            # The page is not told when the link has ended, which it must have before the next connection.
            harness.wait_for(lambda: not world.is_connected("C0_00_00_00_00_01"), "the link has ended")


if __name__ == "__main__":
    unittest.main()
