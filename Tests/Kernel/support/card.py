"""The original use case: a card sent in notifications of 20 octets, ended by a notification of `EOM`."""

SERVICE = "e07f0ae8-00bb-47f5-94f4-4a7174ea3032"
CHARACTERISTIC = "9d534e8b-2153-4f6d-b2b0-8c68665a7274"
CARD = b'{"name": "Grace Hopper", "role": "Rear Admiral", "motto": "A ship in port is safe."}' * 4
