"""Messages that reach the broker, obstacles on their way, and responses to requests."""
import json
import os
import random
import socket
import subprocess
import xml.etree.ElementTree

from case import GatewayTest, counts
from harness import BLE, GATEWAY, wait_for


class Published(GatewayTest):
    def test_values_availability_and_health(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "#")
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
        for count in range(100):
            gateway.hear(1, count)
        wait_for(lambda: len(counts(subscriber, 1)) == 100, "all values have come")
        self.assertEqual(counts(subscriber, 1), list(range(100)))
        self.assertEqual(subscriber.payloads("ble/gateways/attic/availability"), ["online"])
        wait_for(lambda: subscriber.payloads("ble/gateways/attic/health"), "the health was told")
        self.assertEqual(gateway.finish(), 0)
        wait_for(lambda: subscriber.payloads("ble/gateways/attic/availability") == ["online", "offline"], "goodbye")
        # No value twice.
        self.assertEqual(counts(subscriber, 1), list(range(100)))

    def test_mqtt_5_and_status(self):
        broker = self.broker()
        gateway = self.gateway(configuration=f'broker: {{url: "mqtt://127.0.0.1:{broker.port}", protocol: 5}}')
        subscriber = self.subscriber(broker.port, "#")
        gateway.hear(1, 7)
        wait_for(lambda: counts(subscriber, 1) == [7], "the value has come")
        wait_for(lambda: subscriber.payloads("ble/gateways/attic/health"), "the health was told")
        status = [GATEWAY, "status", "--broker", f"mqtt://127.0.0.1:{broker.port}"]
        answer = subprocess.run(status, capture_output=True, text=True)
        # A state that a newer one replaces before the broker is connected counts as given up.
        self.assertRegex(answer.stdout, r"^attic: online, 1 devices, replay scanning, up \d+ s, 0 messages waiting, "
                                        r"\d+ dropped; reported \d+ s ago\n$")
        self.assertEqual(answer.returncode, 0)
        gateway.finish()
        answer = subprocess.run(status, capture_output=True, text=True)
        self.assertIn("attic: offline", answer.stdout)
        self.assertEqual(answer.returncode, 4)

    def test_last_will_when_the_gateway_is_killed(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "ble/gateways/#")
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
        wait_for(lambda: subscriber.payloads("ble/gateways/attic/availability") == ["online"], "online")
        gateway.kill()
        wait_for(lambda: subscriber.payloads("ble/gateways/attic/availability") == ["online", "offline"], "offline")

    def test_a_client_that_does_what_home_assistant_does(self):
        broker = self.broker()
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
        gateway.hear(1, 42)
        first = self.subscriber(broker.port, "homeassistant/#")
        wait_for(lambda: len(first.messages) == 2, "both entities were announced")
        # It comes later, finds the entities, subscribes to what they name, and has the value.
        announced = {topic: json.loads(payload) for topic, payload, _ in first.messages}
        entity = announced["homeassistant/sensor/ble_A4C138000001/count/config"]
        second = self.subscriber(broker.port, entity["state_topic"])
        wait_for(lambda: second.messages, "the retained value")
        topic, payload, retained = second.messages[0]
        self.assertTrue(retained)
        self.assertEqual(entity["value_template"], "{{ value_json.count }}")
        self.assertEqual(json.loads(payload)["count"], 42)
        gateway.finish()

    def test_service_manager_is_told(self):
        broker = self.broker()
        path = str(self.directory / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(20)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
            finally:
                del os.environ["NOTIFY_SOCKET"]
            told = [manager.recv(1000).decode() for _ in range(4)]
            self.assertEqual(told[0], "READY=1")
            self.assertIn("WATCHDOG=1", told)
            self.assertEqual(gateway.finish(), 0)
            while told[-1] != "STOPPING=1":
                told.append(manager.recv(1000).decode())
        self.assertIn("STATUS=0 devices, scanning", told)

    # What is in the way

    def test_wrong_credentials_are_one_clear_line(self):
        passwords = self.directory / "passwords"
        subprocess.run(["mosquitto_passwd", "-c", "-b", passwords, "me", "right"], check=True, capture_output=True)
        broker = self.broker(("allow_anonymous false", f"password_file {passwords}"))
        wrong = self.gateway(f"mqtt://me:wrong@127.0.0.1:{broker.port}", name="wrong")
        for version in ("3.1.1", "5"):
            name = "right" + version.replace(".", "")
            right = self.gateway(f"mqtt://me:right@127.0.0.1:{broker.port}", name=name)
            wait_for(lambda: right.said("connected to mqtt://127.0.0.1"), "the right password connects")
            right.finish()
        wait_for(lambda: wrong.said("the user name or the password may be missing or wrong; retrying"), "the line")
        log = wrong.errors.read_text()
        self.assertNotIn("me:wrong", log)
        for line in log.splitlines():
            self.assertIn("may be missing or wrong", line)
        wrong.kill()

    def test_tls_with_client_certificate(self):
        make = self.directory
        openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        for name in ("ca", "other"):
            subprocess.run([*openssl, "-keyout", make / f"{name}.key", "-out", make / f"{name}.pem", "-subj", f"/CN={name}"],
                           check=True, capture_output=True)
        for name, subject in (("server", "/CN=localhost"), ("client", "/CN=attic")):
            extension = make / f"{name}.ext"
            extension.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
            subprocess.run(["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", make / f"{name}.key",
                            "-out", make / f"{name}.csr", "-subj", subject], check=True, capture_output=True)
            subprocess.run(["openssl", "x509", "-req", "-in", make / f"{name}.csr", "-CA", make / "ca.pem", "-CAkey",
                            make / "ca.key", "-CAcreateserial", "-days", "2", "-extfile", extension,
                            "-out", make / f"{name}.pem"], check=True, capture_output=True)
        broker = self.broker(("allow_anonymous true", f"cafile {make}/ca.pem", f"certfile {make}/server.pem",
                              f"keyfile {make}/server.key", "require_certificate true"))
        url = f"mqtts://localhost:{broker.port}"

        def configuration(authority, certificate):
            tls = f"tls: {{ca: {make}/{authority}.pem, certificate: {make}/{certificate}.pem, key: {make}/{certificate}.key}}"
            return f"broker:\n  url: {url}\n  {tls}\n"
        subscriber = self.subscriber(broker.port, "#", options=[
            "-h", "localhost", "--cafile", make / "ca.pem", "--cert", make / "client.pem", "--key", make / "client.key"])
        good = self.gateway(name="good", configuration=configuration("ca", "client"))
        good.hear(1, 5)
        wait_for(lambda: counts(subscriber, 1) == [5], "the value has come")
        good.finish()
        bad = self.gateway(name="bad", configuration=configuration("other", "client"))
        wait_for(lambda: bad.said("retrying"), "the reason is said")
        self.assertIn("certificate verify failed", bad.errors.read_text())
        bad.kill()

    def test_topics_that_are_not_allowed(self):
        rights = self.directory / "rights"
        rights.write_text("topic readwrite ble/gateways/#\ntopic read ble/#\ntopic readwrite probe/#\n")
        # With no bound mosquitto 2.0.11 takes each refusal for an overflow, and ends the connection.
        broker = self.broker(("allow_anonymous true", f"acl_file {rights}", "max_queued_messages 1000"))
        subscriber = self.subscriber(broker.port, "ble/#")
        gateway = self.gateway(configuration=f'broker: {{url: "mqtt://127.0.0.1:{broker.port}", protocol: "5"}}\n'
                               "health: {interval: 1}\n")
        for count in range(8):
            gateway.hear(1, count)

        def refused():
            return [json.loads(one)["broker"]["refused"] for one in subscriber.payloads("ble/gateways/attic/health")]
        # Eight states, and what is announced of the device.
        wait_for(lambda: refused() and refused()[-1] >= 8, "all were refused")
        lines = [line for line in gateway.errors.read_text().splitlines() if "rejected a message" in line]
        self.assertIn("ot authori", lines[0])
        # The first, second, fourth and eighth time, and not each.
        self.assertLess(len(lines), 8)
        self.assertEqual(subscriber.payloads("ble/gateways/attic/availability"), ["online"])
        self.assertEqual(gateway.finish(), 0)

    def test_garbage_for_remote_hands(self):
        broker = self.broker()
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}", configuration='remote: {allow: ["A4:C1:38:11:22:33"]}\n')
        subscriber = self.subscriber(broker.port, "ble/gateways/attic/answer")
        wait_for(lambda: gateway.said("connected to"), "the gateway listens")
        topic = "ble/gateways/attic/request"
        garbage = [b"", b"{", b"\xff\xfe", b"[" * 3000, b"\0" * 70_000, b'{"id":1}', b'{"owner":"me","device":"x","do":"connect"}',
                   '{"id":"\u202e","owner":"me","device":"A4:C1:38:11:22:33","do":"write","value":"zz"}'.encode()]
        for payload in garbage:
            subprocess.run(["mosquitto_pub", "-p", str(broker.port), "-t", topic, "-s" if payload else "-n"], input=payload,
                           check=True)
        # What is longer than any message for a gateway is not answered.
        wait_for(lambda: len(subscriber.payloads("ble/gateways/attic/answer")) == len(garbage) - 1, "each has its answer")
        for payload in subscriber.payloads("ble/gateways/attic/answer"):
            answer = json.loads(payload)
            self.assertEqual((answer["ok"], answer["error"]), (False, "malformed"))
            self.assertTrue(answer["reason"])
            self.assertTrue(payload.isascii())
        gateway.hear(1, 7)
        self.assertEqual(gateway.finish(), 0)

    def test_configuration_errors_name_the_place(self):
        file = self.directory / "bad.yaml"
        file.write_text("broker:\n  url: mqtt://x\n  keep_alive: soon\n")
        answer = subprocess.run([GATEWAY, "--config", file], capture_output=True, text=True)
        self.assertIn("bad.yaml: line 3, broker.keep_alive: expected a number from 5 to 3600", answer.stderr)
        self.assertEqual(answer.returncode, 64)
        answer = subprocess.run([GATEWAY, "--dry-run", "--replay", self.directory / "none"], capture_output=True, text=True)
        self.assertIn("none cannot be read", answer.stderr)
        self.assertEqual(answer.returncode, 64)

    def test_announcement_for_avahi(self):
        file = self.directory / "attic.yaml"
        file.write_text("gateway: attic\nesphome: {listen: ':6053', key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}\n")
        answer = subprocess.run([GATEWAY, "announcement", "--config", file], capture_output=True, text=True)
        service = xml.etree.ElementTree.fromstring(answer.stdout)
        self.assertEqual([(one.tag, one.text) for one in service.find("service") if one.tag != "txt-record"],
                         [("type", "_esphomelib._tcp"), ("port", "6053")])
        records = dict(one.text.split("=", 1) for one in service.iter("txt-record"))
        self.assertEqual(records["api_encryption"], "Noise_NNpsk0_25519_ChaChaPoly_SHA256")
        self.assertRegex(records["mac"], "^[0-9a-f]{12}$")
        file.write_text("gateway: attic\n")
        answer = subprocess.run([GATEWAY, "announcement", "--config", file], capture_output=True, text=True)
        self.assertIn("no section esphome", answer.stderr)
        self.assertEqual(answer.returncode, 64)

    def test_what_was_recorded_is_decoded_again(self):
        lines = [{"address": "A4:C1:38:00:00:01", "type": "public", "rssi": -60, "data": "0716d2fc4002ca09", "time": time}
                 for time in (1000, 1200)]
        lines.insert(1, {"address": "nobody", "data": "00"})
        lines.append({"address": "C0:00:00:00:00:02", "type": "random", "data": "0716D2FC4002CB09", "time": 1300})
        file = self.directory / "site.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "no JSON")
        answer = subprocess.run([GATEWAY, "--dry-run", "--replay", file], capture_output=True, text=True)
        states = [line for line in answer.stdout.splitlines() if "/state " in line and line.startswith("ble/")]
        self.assertEqual(states, ['ble/devices/A4C138000001/state (retained) {"temperature":25.06}',
                                  'ble/devices/C00000000002/state (retained) {"temperature":25.07}'])
        self.assertEqual(answer.stderr.splitlines(), ["ble-gateway: line 2 is not a packet, and is skipped",
                                                      "ble-gateway: line 5 is not a packet, and is skipped"])
        self.assertEqual(answer.returncode, 0)

    # Remote hands

    def test_remote_hands(self):
        for version in ("3.1.1", "5"):
            with self.subTest(version):
                self.remote_hands(version)

    def remote_hands(self, version):
        broker = self.broker()
        air = self.directory / version
        air.mkdir()
        document = air / "device.json"
        document.write_text(json.dumps({"name": "Lock", "services": [{"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read", "write", "notify"], "value": "61"}]}], "notifications": [
                {"at": 0, "uuid": "2A19", "value": "60"}, {"at": 1, "uuid": "2A19", "value": "5F"}]}))
        for arguments in (["radio", "unix-server:a", "unix-server:b"], ["serve", document, "--transport", "unix:a"]):
            child = subprocess.Popen([BLE, *arguments], cwd=air, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.stack.callback(lambda child=child: (child.terminate(), child.wait()))
            wait_for((air / "b").exists, "the radio is there")
        device = "00:1B:DC:00:00:01/P"
        gateway = self.gateway(name="remote", source=["--transport", f"unix:{air}/b"], configuration=(
            f'broker: {{url: "mqtt://127.0.0.1:{broker.port}", protocol: "{version}"}}\n'
            f'remote: {{allow: ["{device}"], connections: 1}}\n'))
        subscriber = self.subscriber(broker.port, "ble/gateways/remote/answer", "ble/gateways/remote/notify/#", "mine")
        wait_for(lambda: gateway.said("scanning") and gateway.said("connected to"), "the gateway scans")
        topic = "ble/gateways/remote/request"

        def ask(**members):
            number = str(random.getrandbits(32))
            request = json.dumps({"id": number, "owner": "me", "device": device, **members})
            subprocess.run(["mosquitto_pub", "-p", str(broker.port), "-t", topic, "-m", request], check=True)

            def answers():
                return [one for one in map(json.loads, subscriber.payloads("ble/gateways/remote/answer"))
                        if one.get("id") == number]
            wait_for(answers, f"the answer to {members}")
            return {name: value for name, value in answers()[0].items() if name not in ("id", "reason")}

        battery = {"service": "180F", "characteristic": "2A19"}
        self.assertEqual(ask(do="read", **battery), {"ok": False, "error": "notConnected"})
        self.assertEqual(ask(do="connect", device="C0:00:00:00:00:01"), {"ok": False, "error": "notAllowed"})
        self.assertEqual(ask(do="fly"), {"ok": False, "error": "malformed"})
        answer = ask(do="connect")
        self.assertEqual((answer["ok"], answer["mtu"]), (True, 517))
        self.assertEqual(ask(do="read", owner="you", **battery), {"ok": False, "error": "owned"})
        self.assertEqual(ask(do="read", **battery), {"ok": True, "value": "61"})
        self.assertEqual(ask(do="write", value="42", **battery), {"ok": True})
        self.assertEqual(ask(do="read", **battery), {"ok": True, "value": "42"})
        self.assertEqual(ask(do="read", service="180F", characteristic="2A37"), {"ok": False, "error": "notFound"})
        services = {one["uuid"]: one["characteristics"] for one in ask(do="discover")["services"]}
        self.assertEqual(services["180F"], [{"uuid": "2A19", "properties": ["read", "write", "notify"]}])
        self.assertEqual(ask(do="subscribe", **battery), {"ok": True})
        notified = "ble/gateways/remote/notify/001BDC000001/2A19"
        wait_for(lambda: len(subscriber.payloads(notified)) == 2, "both values were notified")
        self.assertEqual(subscriber.payloads(notified), ['{"value":"60"}', '{"value":"5F"}'])
        if version == "5":
            # The answer goes where it is wanted, with what it is to repeat.
            request = json.dumps({"owner": "me", "device": device, "do": "read", **battery})
            subprocess.run(["mosquitto_pub", "-V", "5", "-p", str(broker.port), "-t", topic, "-m", request,
                            "-D", "publish", "response-topic", "mine", "-D", "publish", "correlation-data", "x"],
                           check=True)
            wait_for(lambda: subscriber.payloads("mine"), "the answer at the topic asked for")
            self.assertTrue(json.loads(subscriber.payloads("mine")[0])["ok"])
        self.assertEqual(ask(do="disconnect"), {"ok": True})
        wait_for(lambda: subscriber.payloads("ble/gateways/remote/notify/001BDC000001"), "the end is told")
        self.assertEqual(ask(do="read", **battery), {"ok": False, "error": "notConnected"})
        # Its place is free again.
        self.assertTrue(ask(do="connect")["ok"])
        self.assertEqual(ask(do="disconnect"), {"ok": True})
        gateway.process.terminate()
        self.assertEqual(gateway.finish(), 0)

    def test_pairing_by_policy(self):
        broker = self.broker()
        document = self.directory / "device.json"
        document.write_text(json.dumps({"name": "Lock", "services": [{"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read"], "value": "61", "permissions": {"read": "encrypted"}}]}]}))
        environment = {**os.environ, "XDG_STATE_HOME": str(self.directory)}
        for arguments in (["radio", "unix-server:a", "unix-server:b"],
                          ["serve", document, "--transport", "unix:a", "--pair", "--accept", "--bonds", "device"]):
            child = subprocess.Popen([BLE, *arguments], cwd=self.directory, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            self.stack.callback(lambda child=child: (child.terminate(), child.wait()))
            wait_for((self.directory / "b").exists, "the radio is there")
        device = "00:1B:DC:00:00:01/P"
        battery = {"service": "180F", "characteristic": "2A19"}
        for allowed in (False, True):
            name = f"pair{allowed}".lower()
            gateway = self.gateway(name=name, source=["--transport", f"unix:{self.directory}/b"], configuration=(
                f'broker: {{url: "mqtt://127.0.0.1:{broker.port}"}}\n'
                f'remote: {{allow: ["{device}"], pair: {str(allowed).lower()}}}\n'), environment=environment)
            subscriber = self.subscriber(broker.port, f"ble/gateways/{name}/answer")
            wait_for(lambda: gateway.said("scanning") and gateway.said("connected to"), "the gateway scans")

            def ask(**members):
                number = str(random.getrandbits(32))
                request = json.dumps({"id": number, "owner": "me", "device": device, **members})
                subprocess.run(["mosquitto_pub", "-p", str(broker.port), "-t", f"ble/gateways/{name}/request", "-m", request],
                               check=True)

                def answers():
                    return [one for one in map(json.loads, subscriber.payloads(f"ble/gateways/{name}/answer"))
                            if one.get("id") == number]
                wait_for(answers, f"the answer to {members}")
                return {name: value for name, value in answers()[0].items() if name not in ("id", "reason")}
            self.assertTrue(ask(do="connect")["ok"])
            if not allowed:
                for action in ("pair", "unpair"):
                    self.assertEqual(ask(do=action), {"ok": False, "error": "notAllowed"})
            else:
                self.assertEqual(ask(do="pair"), {"ok": True})
                self.assertEqual(ask(do="read", **battery), {"ok": True, "value": "61"})
                self.assertEqual(ask(do="unpair", owner="you"), {"ok": False, "error": "owned"})
                self.assertEqual(ask(do="unpair"), {"ok": True})
                self.assertEqual(ask(do="unpair"), {"ok": False, "error": "failed"})
            self.assertEqual(ask(do="disconnect"), {"ok": True})
            gateway.process.terminate()
            self.assertEqual(gateway.finish(), 0)

    # Values that are read

    def test_values_read_on_an_interval(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "#")
        document = self.directory / "device.json"
        document.write_text(json.dumps({"name": "Lock", "services": [
            {"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": "61"}]},
            {"uuid": "180A", "characteristics": [{"uuid": "2A26", "properties": ["read"], "value": "312E32"}]}]}))
        for arguments in (["radio", "unix-server:a", "unix-server:b"], ["serve", document, "--transport", "unix:a"]):
            child = subprocess.Popen([BLE, *arguments], cwd=self.directory, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            self.stack.callback(lambda child=child: (child.terminate(), child.wait()))
            wait_for((self.directory / "b").exists, "the radio is there")
        gateway = self.gateway(
            f"mqtt://127.0.0.1:{broker.port}", source=["--transport", f"unix:{self.directory}/b"],
            configuration='read: {devices: "00:1B:DC:00:00:01/P", characteristics: [2A19, 2A6E, 2A26], every: 1}')
        topic = "ble/devices/001BDC000001/state"
        wait_for(lambda: subscriber.payloads(topic), "the values are published")
        self.assertEqual(subscriber.payloads(topic), ['{"battery":97,"firmware_version":"1.2"}'])
        entities = {name for name, _, _ in subscriber.messages if name.startswith("homeassistant/")}
        self.assertIn("homeassistant/sensor/ble_001BDC000001/battery/config", entities)
        gateway.process.terminate()
        self.assertEqual(gateway.finish(), 0)

    # Adapters

    def test_adapter_lost_and_back(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "ble/#")

        def air():
            children = [subprocess.Popen([BLE, *arguments], cwd=self.directory, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                        for arguments in (["radio", "unix-server:a", "unix-server:b"],)]
            wait_for((self.directory / "b").exists, "the radio is there")
            children.append(subprocess.Popen(
                [BLE, "beacon", "bthome", "temperature=25.06", "--transport", "unix:a"], cwd=self.directory,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

            def end():
                for child in children:
                    child.kill()
                    child.wait()
                for name in ("a", "b"):
                    (self.directory / name).unlink(missing_ok=True)
            self.stack.callback(end)
            return end

        def health():
            return [json.loads(payload)["well"] for payload in subscriber.payloads("ble/gateways/attic/health")]
        end = air()
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}", source=["--transport", f"unix:{self.directory}/b"],
                               configuration="topics: {base: ble}")
        topic = "ble/devices/001BDC000001/state"
        wait_for(lambda: subscriber.payloads(topic) and health()[-1:] == [True], "the sensor is heard")
        end()
        wait_for(lambda: health()[-1:] == [False], "the loss is told")
        end = air()
        wait_for(lambda: health()[-1:] == [True], "the adapter scans again")
        gateway.process.terminate()
        self.assertEqual(gateway.finish(), 0)
        self.assertEqual(set(subscriber.payloads(topic)), {'{"temperature":25.06}'})
