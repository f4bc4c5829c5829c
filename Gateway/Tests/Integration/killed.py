"""The messages that arrive when the broker, the connection or the gateway is killed."""
import random
import signal
import time

from case import GatewayTest, counts
from harness import KILLS, Wire, free_port, wait_for


class Killed(GatewayTest):
    def test_broker_away_at_the_start(self):
        port = free_port()
        gateway = self.gateway(f"mqtt://127.0.0.1:{port}")
        for count in range(50):
            gateway.hear(1, count)
        wait_for(lambda: gateway.said("Connection refused"), "the refusal is said")
        broker = self.broker(port=port)
        subscriber = self.subscriber(port, "#")
        # A later one is not in the way of those that waited.
        gateway.hear(1, 50)
        wait_for(lambda: counts(subscriber, 1)[-1:] == [50], "the last value has come")
        gateway.finish()
        self.assertEqual(broker.process.poll(), None)

    def test_broker_stopped(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "ble/devices/#")
        gateway = self.gateway(configuration=f"broker: {{url: 'mqtt://127.0.0.1:{broker.port}', longest_wait: 0.1}}")
        number = 0
        for _ in range(KILLS):
            for _ in range(random.randrange(1, 200)):
                gateway.hear(number % 3, number)
                number += 1
            broker.stop()
            for _ in range(random.randrange(1, 200)):
                gateway.hear(number % 3, number)
                number += 1
            broker.start()
            wait_for(lambda: max(counts(subscriber, (number - 1) % 3), default=-1) == number - 1, "it is used again")
        self.check_everything(subscriber, number)
        gateway.finish()

    def test_connection_cut(self):
        broker = self.broker()
        wire = Wire(broker.port)
        self.stack.callback(wire.close)
        subscriber = self.subscriber(broker.port, "ble/devices/#")
        gateway = self.gateway(configuration=f"broker: {{url: 'mqtt://127.0.0.1:{wire.port}', longest_wait: 0.1}}")
        number = 0
        for _ in range(KILLS):
            for _ in range(random.randrange(1, 300)):
                gateway.hear(number % 3, number)
                number += 1
            wait_for(lambda: wire.ends, "a connection is there to be cut")
            wire.cut()
        self.check_everything(subscriber, number)
        gateway.finish()

    def check_everything(self, subscriber, number):
        def is_complete():
            return all(max(counts(subscriber, device), default=-1) == max(range(device, number, 3), default=-1)
                       for device in range(3))
        wait_for(is_complete, "the last value of each device has come", 120)
        for device in range(3):
            received, sent = counts(subscriber, device), range(device, number, 3)
            self.assertEqual(sorted(set(sent) - set(received)), [], "none is missing")
            # In order, but for what was told again.
            first_time = list(dict.fromkeys(received))
            self.assertEqual(first_time, sorted(first_time))

    def test_gateway_killed(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "ble/devices/#")
        number, stored = 0, []
        for kill in range(KILLS):
            gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
            # Every other time the broker stands still, so that everything waits.
            if kill % 2 == 0:
                broker.process.send_signal(signal.SIGSTOP)
            for _ in range(random.randrange(50, 500)):
                gateway.hear(0, number)
                number += 1
            if kill % 2 == 0:
                wait_for(lambda: self.stored(gateway.spool), "something was stored")
            time.sleep(random.random() / 20)
            gateway.kill()
            broker.process.send_signal(signal.SIGCONT)
            stored += self.stored(gateway.spool)
        self.assertTrue(stored)
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}")
        gateway.hear(0, number)
        wait_for(lambda: number in counts(subscriber, 0), "the last value has come", 60)
        gateway.finish()
        received = counts(subscriber, 0)
        self.assertEqual([count for count in stored if count not in received], [])
        # In order, but for what was told again.
        first_time = list(dict.fromkeys(received))
        self.assertEqual(first_time, sorted(first_time))
