"""A device on the Bumble host that loses its subscriptions when its services change, as after a new firmware.

    changing_device.py SOCKET ADDRESS

It notifies 11 to its first subscriber, changes, and notifies 22 to each later subscriber.
"""
import asyncio
import sys

from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.transport import open_transport

Property, Permission = Characteristic.Properties, Characteristic.Permissions
ALL_HANDLES = bytes.fromhex("0100ffff")


async def main(socket, address):
    async with await open_transport(f"unix:{socket}") as hci:
        device = Device.from_config_with_hci(
            DeviceConfiguration(name="changing", address=Address(address)), hci.source, hci.sink)
        level = Characteristic(
            UUID("2A19"), Property.READ | Property.NOTIFY, Permission.READABLE, bytes([87]))
        device.add_services([Service(UUID("180F"), [level])])
        await device.power_on()
        changes, tasks = 0, set()

        async def change(connection):
            changed = device.gatt_service.service_changed_characteristic
            subscribers = device.gatt_server.subscribers
            while changed.handle not in subscribers.get(connection, {}):
                await asyncio.sleep(0.02)
            del subscribers[connection][level.handle]
            await device.indicate_subscriber(connection, changed, ALL_HANDLES)

        async def serve(connection):
            nonlocal changes
            changes += 1
            level.value = bytes([11 * changes])
            await device.notify_subscriber(connection, level)
            if changes == 1:
                await change(connection)

        def subscribed(connection, notifies, _indicates):
            if notifies:
                tasks.add(asyncio.create_task(serve(connection)))

        level.on(Characteristic.EVENT_SUBSCRIPTION, subscribed)
        await device.start_advertising(
            advertising_data=bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06")])), auto_restart=True,
            advertising_interval_min=50, advertising_interval_max=50)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
