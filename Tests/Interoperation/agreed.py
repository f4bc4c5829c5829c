"""Constants that the cases share with their Bumble peers. Doesn't import Bumble, so cases can be listed without it."""

from __future__ import annotations

# The card service, and the characteristic that notifies the card.
CARD_SERVICE = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
CARD_CHARACTERISTIC = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"
# The card is sent in notifications of this many bytes, which fit into the default ATT_MTU of 23.
CHUNK_SIZE = 20

# The name of the peripheral of `bumble_values`. It clears a screen, sets a title and turns the writing direction around.
VALUES_NAME = "Bad\x1b[2J\x1b]0;owned\x07\u202eName"

# The device of `bumble_device`. Its name must not reach a terminal unescaped: it contains an escape sequence, and a
# mark that reverses text.
DEVICE_ADDRESS = "F0:F1:F2:F3:F4:F5"
DEVICE_NAME = "Probe\x1b[2J\u202e"
ADVERTISEMENT = bytes.fromhex("020106 0303 0F18 05FF FFFF 1B5B")
SCAN_RESPONSE = bytes([1 + len(DEVICE_NAME.encode()), 0x09]) + DEVICE_NAME.encode()
LEVELS = [99, 98, 97]
